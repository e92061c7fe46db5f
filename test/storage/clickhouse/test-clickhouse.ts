import type { Test } from 'tap';
import { NO_RATES } from '../../../src/http/user-rates.js';
import type { Host } from '../../../src/component/host.js';
import type { Status } from '../../../src/component/status.js';
import {
  ClickHouseStore,
  type ClickHouseStoreOptions,
} from '../../../src/storage/clickhouse/clickhouse-store.js';
import type { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import type { ClickHouseServer } from '../../support/clickhouse-server.js';
import { componentSettings } from '../../support/component-settings.js';
import { openControlStore } from '../../support/control-store.js';
import { aUser } from '../duckdb/meta-records.js';
import { clickHouseOptions } from './clickhouse-place.js';

/** A store in its own database with a control store; closed when the test ends. */
export class TestClickHouse {
  readonly settings = componentSettings('clickhouse');
  /** Statuses reported to the daemon. */
  readonly statuses: Status[] = [];
  readonly control: SqlControlStore;
  readonly options: ClickHouseStoreOptions;
  #store: ClickHouseStore | null = null;

  private constructor(control: SqlControlStore, options: ClickHouseStoreOptions) {
    this.control = control;
    this.options = options;
  }

  /** @param given control store; defaults to a new one in SQLite */
  static async open(
    t: Test,
    server: ClickHouseServer,
    changes: Partial<ClickHouseStoreOptions> = {},
    given?: SqlControlStore,
  ): Promise<TestClickHouse> {
    const control = given ?? (await openControlStore(t));
    const options = { ...clickHouseOptions(server, changes), control: 'sqlite' };
    const opened = new TestClickHouse(control, options);
    t.teardown(async () => {
      await opened.close();
      await server.query(`DROP DATABASE IF EXISTS ${options.database} SYNC`);
    });
    await opened.start();
    return opened;
  }

  get store(): ClickHouseStore {
    if (this.#store === null) throw new Error('the store of this test is closed');
    return this.#store;
  }

  async start(): Promise<void> {
    const store = new ClickHouseStore({ ...this.settings, config: {} }, this.options);
    await store.start({
      reportStatus: (status: Status) => this.statuses.push(status),
      extension: () => this.control,
      userLimits: NO_RATES,
    } as unknown as Host);
    this.#store = store;
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = null;
    await store?.shutdown(AbortSignal.timeout(20_000));
  }

  async reopen(): Promise<void> {
    await this.close();
    await this.start();
  }

  /** @returns the id of a new user */
  async addUser(): Promise<string> {
    const user = aUser({ created_at: this.settings.clock.now() });
    await this.control.accounts.createUser(user);
    return user.id;
  }
}
