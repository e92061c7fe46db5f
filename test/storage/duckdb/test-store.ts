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

/** Small enough for segments to be sealed and moved all the time. */
const SMALL_SEGMENTS = { rows: 60, bytes: 1024 * 1024 };

/** Small enough for ids of traces to lie in several files. */
const SMALL_INDEX = { tableBits: 6, filterBytes: 64 * 1024 };

/** What stores of tests are like, where it does not matter. */
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
  // So that runs of tests have few spans, and many.
  runSize: { few: 3 },
  maxRunSpans: 100_000,
  indexSize: SMALL_INDEX,
} as const satisfies Partial<DuckDBStoreOptions>;

/**
 * A store in real files that can be closed and opened again, with a control plane in the same folder that goes with it. It is closed when
 * the test ends.
 */
export class TestStore {
  readonly path: string;
  readonly settings = componentSettings('duckdb');
  /** What it told the daemon. */
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

  /** @param options `path` of a store that is there opens it again @param controlPath that of its control plane; absent: beside it */
  static async open(
    t: Pick<Test, 'testdir' | 'teardown'>,
    options: Partial<DuckDBStoreOptions> = {},
    controlPath?: string,
  ): Promise<TestStore> {
    let close = async (): Promise<void> => undefined;
    // Before the folder is made, because it is taken away after what was asked for before.
    t.teardown(() => close());
    const path = options.path ?? join(testFolder(t), 'jackdaw.duckdb');
    const opened = new TestStore(path, options, controlPath ?? controlPathOf(path));
    close = () => opened.close();
    try {
      await opened.start();
    } catch (error) {
      // The folder may be taken away before the end of the test.
      await opened.close();
      throw error;
    }
    return opened;
  }

  get store(): DuckDBStore {
    if (this.#store === null) throw new Error('the store of this test is closed');
    return this.#store;
  }

  /** Where users and prompts are. */
  get control(): SqlControlStore {
    if (this.#control === null) throw new Error('the store of this test is closed');
    return this.#control;
  }

  /** @param options other options from here on */
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

  /** Waits until every sealed segment lies in the cold file. */
  async settled(): Promise<void> {
    await this.store.settled();
  }

  /** Lets a time pass, not more than two days, and retention remove what is too old then. */
  async retained(afterMs: number): Promise<void> {
    this.settings.clock.advance(afterMs);
    // The store does it by itself, too, once an hour and beside everything else: a test would not know when.
    await this.store.applyRetention();
  }

  /** @returns the id of a new user, which is a tenant */
  async addUser(): Promise<string> {
    const user = aUser({ created_at: this.settings.clock.now() });
    await this.control.accounts.createUser(user);
    return user.id;
  }

  /** What the rows of a user carry. */
  async tenantOf(userId: string): Promise<number> {
    const found = await this.control.accounts.findUser(userId);
    if (found === null) throw new Error('this test has no such user');
    return found.tenant;
  }
}

/** A host of which the store uses nothing but the status, and the control plane. */
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
    settleKeys: unused,
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
