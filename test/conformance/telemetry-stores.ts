import type { Test } from 'tap';
import type { Status } from '../../src/component/status.js';
import type { ControlPlane } from '../../src/storage/control-plane.js';
import type { TelemetryPlane } from '../../src/storage/telemetry-plane.js';
import type { TelemetryWriter } from '../../src/storage/telemetry-writer.js';
import { TestClickHouse } from '../storage/clickhouse/test-clickhouse.js';
import { duplicatesIn, wrongSumsIn } from '../storage/duckdb/stored-rows.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { TestStore } from '../storage/duckdb/test-store.js';

/** What a store that takes items which are only ever added has of the plane. */
export type ItemStore = Pick<TelemetryPlane, 'logs' | 'arrivals' | 'identity'> & {
  readonly writer: Pick<TelemetryWriter, 'logs'>;
};

/** What a store of runs and log records has of the plane. */
export type RunStore = Omit<TelemetryPlane, 'metrics' | 'writer'> & {
  readonly writer: Pick<TelemetryWriter, 'traces' | 'logs'>;
};

/** A telemetry store to check, empty at first, with the control plane that it goes with. */
export interface OpenedTelemetry<Store = TelemetryPlane> {
  /** Another object after {@link reopen}; likewise the control plane. */
  readonly store: Store;
  readonly control: ControlPlane;
  /** What it told the daemon: nothing, as long as all is well. */
  readonly statuses: readonly Status[];
  /** @returns the id of a new user */
  readonly addUser: () => Promise<string>;
  /** The same after it was closed. */
  reopen(): Promise<void>;
  /** Waits until lists and sums that may lag behind the writes have caught up. */
  caughtUp(): Promise<void>;
  /** Waits until the store has done what it does by and by with what it has: moved, merged, rolled it up. */
  settled(): Promise<void>;
  /** @returns what is wrong with the store's own books, where it keeps some: what no contract shows */
  wrongs(): Promise<readonly string[]>;
}

/** What a suite would like a store to be like; one that has nothing of the kind goes without. */
interface Wanted {
  /** Rows after which it begins another file, so that answers come from several. */
  readonly fileRows?: number;
}

export type OpenTelemetry<Store = TelemetryPlane> = (
  t: Test,
  wanted?: Wanted,
) => Promise<OpenedTelemetry<Store>>;

/** Every implementation. */
const STORES: Readonly<Record<string, OpenTelemetry>> = { DuckDB: onDuckDb };

/** Runs a suite on every implementation. */
export async function onEveryTelemetry(
  t: Test,
  suite: (t: Test, open: OpenTelemetry) => void,
): Promise<void> {
  for (const [name, open] of Object.entries(STORES))
    await t.test(`on ${name}`, async (t) => {
      t.setTimeout(0);
      suite(t, open);
    });
}

/** Likewise on those that have not all of the plane. */
export async function onEveryItemStore(
  t: Test,
  suite: (t: Test, open: OpenTelemetry<ItemStore>) => void,
): Promise<void> {
  await onEveryTelemetry(t, suite);
  await onServer(t, suite);
}

/** Likewise. */
export async function onEveryRunStore(
  t: Test,
  suite: (t: Test, open: OpenTelemetry<RunStore>) => void,
): Promise<void> {
  await onEveryTelemetry(t, suite);
  await onServer(t, suite);
}

/** On ClickHouse; skipped, with the reason, where it cannot run. */
async function onServer(t: Test, suite: (t: Test, open: OpenTelemetry<RunStore>) => void): Promise<void> {
  const server = await ClickHouseServer.start(t);
  const skip = typeof server === 'string' ? server : false;
  await t.test('on ClickHouse', { skip }, async (t) => {
    t.setTimeout(0);
    if (typeof server !== 'string') suite(t, (t) => onClickHouse(t, server));
  });
}

async function onClickHouse(t: Test, server: ClickHouseServer): Promise<OpenedTelemetry<RunStore>> {
  const opened = await TestClickHouse.open(t, server);
  const { database } = opened.options;
  return {
    get store() {
      return opened.store;
    },
    get control() {
      return opened.control;
    },
    statuses: opened.statuses,
    addUser: () => opened.addUser(),
    reopen: () => opened.reopen(),
    // Views are filled in the insert of what they follow.
    caughtUp: async () => undefined,
    settled: async () => {
      const tables = await server.query(
        `SELECT name FROM system.tables WHERE database = '${database}' AND engine LIKE '%MergeTree'`,
      );
      for (const [table] of tables) await server.query(`OPTIMIZE TABLE ${database}.${String(table)} FINAL`);
    },
    wrongs: async () => [],
  };
}

async function onDuckDb(t: Test, { fileRows }: Wanted = {}): Promise<OpenedTelemetry> {
  const size = fileRows === undefined ? {} : { segmentSize: { rows: fileRows, bytes: 1e9 } };
  // Small enough for a rebuild to take many steps.
  const opened = await TestStore.open(t, { ...size, rebuildSize: { page: 100, part: 50 } });
  return {
    get store() {
      return opened.store;
    },
    get control() {
      return opened.control;
    },
    statuses: opened.statuses,
    addUser: () => opened.addUser(),
    reopen: () => opened.reopen(),
    // What was answered for is in every answer at once.
    caughtUp: async () => undefined,
    settled: () => opened.settled(),
    async wrongs() {
      await opened.settled();
      await opened.close();
      const wrongs = [...(await wrongSumsIn(opened.path)), ...(await duplicatesIn(opened.path))];
      await opened.start();
      return wrongs.map(String);
    },
  };
}
