import { join } from 'node:path';
import type { Test } from 'tap';
import { NO_RATES } from '../../../src/http/user-rates.js';
import type { Status } from '../../../src/component/status.js';
import type { Host } from '../../../src/component/host.js';
import type { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import type { ControlStore } from '../../../src/storage/contracts/control-store.js';
import { DuckDBStore, type DuckDBStoreOptions } from '../../../src/storage/duckdb/client/store.js';
import { componentSettings } from '../../support/component-settings.js';
import { controlPathOf, controlStoreAt } from '../../support/control-store.js';
import { testFolder } from '../../support/test-folder.js';
import { aUser } from './meta-records.js';

/** Small enough that segments are sealed and compacted all the time. */
const SMALL_SEGMENTS = { rows: 60, bytes: 1024 * 1024 };

/** Small enough that trace ids span several files. */
const SMALL_INDEX = { tableBits: 6, filterBytes: 64 * 1024 };

/** Default options of test stores. */
export const STORE_OPTIONS = {
  control: 'sqlite',
  memoryLimit: '256MiB',
  threads: 1,
  maxQueueBytes: 64 * 1024 * 1024,
  traceRetentionDays: null,
  metricRetentionDays: null,
  logRetentionDays: null,
  eventRetentionDays: null,
  segmentSize: SMALL_SEGMENTS,
  // So that test runs have both few and many spans.
  runSize: { few: 3 },
  maxRunSpans: 100_000,
  indexSize: SMALL_INDEX,
} as const satisfies Partial<DuckDBStoreOptions>;

/**
 * A store in real files that can be closed and reopened, with a control store in the same folder.
 * Closed when the test ends.
 */
export class TestStore {
  readonly path: string;
  readonly settings = componentSettings('duckdb');
  /** Statuses reported to the daemon. */
  readonly statuses: Status[] = [];
  readonly #options: Partial<DuckDBStoreOptions>;
  readonly #controlPath: string;
  #store: DuckDBStore | null = null;
  #control: SqlControlStore | null = null;

  private constructor(path: string, options: Partial<DuckDBStoreOptions>, controlPath: string) {
    this.path = path;
    this.#controlPath = controlPath;
    this.#options = options;
  }

  /** @param options `path` of an existing store reopens it @param controlPath path of its control store; defaults to next to it */
  static async open(
    t: Pick<Test, 'testdir' | 'teardown'>,
    options: Partial<DuckDBStoreOptions> = {},
    controlPath?: string,
  ): Promise<TestStore> {
    let close = async (): Promise<void> => undefined;
    // Registered before the folder is created, because teardowns run in reverse order.
    t.teardown(() => close());
    const path = options.path ?? join(testFolder(t), 'jackdaw.duckdb');
    const opened = new TestStore(path, options, controlPath ?? controlPathOf(path));
    close = () => opened.close();
    try {
      await opened.start();
    } catch (error) {
      // The folder may be removed before the end of the test.
      await opened.close();
      throw error;
    }
    return opened;
  }

  get store(): DuckDBStore {
    if (this.#store === null) throw new Error('the store of this test is closed');
    return this.#store;
  }

  /** The store of users and prompts. */
  get control(): SqlControlStore {
    if (this.#control === null) throw new Error('the store of this test is closed');
    return this.#control;
  }

  /** @param options replace the previous options */
  async start(options: Partial<DuckDBStoreOptions> = {}): Promise<void> {
    this.#control ??= await controlStoreAt(this.#controlPath, this.settings.clock);
    const store = new DuckDBStore(
      { ...this.settings, config: {} },
      { ...STORE_OPTIONS, path: this.path, ...this.#options, ...options },
    );
    await store.start(hostThatKeeps(this.statuses, this.#control));
    this.#store = store;
  }

  async close(): Promise<void> {
    const [store, control] = [this.#store, this.#control];
    [this.#store, this.#control] = [null, null];
    await store?.shutdown(AbortSignal.timeout(20_000));
    await control?.close();
  }

  async reopen(options: Partial<DuckDBStoreOptions> = {}): Promise<void> {
    await this.close();
    await this.start(options);
  }

  /** Waits until every sealed segment is in the cold file. */
  async settled(): Promise<void> {
    await this.store.settled();
  }

  /** Advances the clock by at most two days and applies retention. */
  async retained(afterMs: number): Promise<void> {
    this.settings.clock.advance(afterMs);
    // The store also applies retention hourly in the background, at times unknown to a test.
    await this.store.applyRetention();
  }

  /** @returns the id of a new user */
  async addUser(): Promise<string> {
    const user = aUser({ created_at: this.settings.clock.now() });
    await this.control.accounts.createUser(user);
    return user.id;
  }

  /** The tenant number in the rows of a user. */
  async tenantOf(userId: string): Promise<number> {
    const found = await this.control.accounts.findUser(userId);
    if (found === null) throw new Error('this test has no such user');
    return found.tenant;
  }
}

/** A host with only the status and the control store. */
export function hostThatKeeps(statuses: Status[], control?: ControlStore): Host {
  const unused = (): never => {
    throw new Error('the store asked for something it does not need');
  };
  return {
    extension: (_id, isWanted) => (isWanted(control) ? control : unused()),
    listener: unused,
    announce: unused,
    authenticate: unused,
    identityNow: unused,
    browserLogins: unused,
    refreshKeys: unused,
    secretBox: unused,
    trustedProxies: { includes: () => false, clientOf: (peer) => peer },
    userLimits: NO_RATES,
    rejections: { note: unused, of: unused },
    prices: { offer: unused, leadingTo: unused },
    smtp: null,
    health: unused,
    daemon: { version: '', startedAt: 0, pipelines: [], edges: unused, listen: unused, formatConfig: unused },
    reportStatus: (status) => {
      statuses.push(status);
    },
  };
}
