import root, { type Test } from 'tap';
import type { Status } from '../../src/component/status.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import type { StillClock } from '../../src/telemetry/still-clock.js';
import { MS_PER_DAY } from '../../src/signal/time-units.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import { TestClickHouse } from '../storage/clickhouse/test-clickhouse.js';
import { duplicatesIn, wrongSumsIn } from '../storage/duckdb/stored-rows.js';
import { ClickHouseServer } from '../support/clickhouse-server.js';
import { openPostgresControl } from '../support/control-store.js';
import type { PostgresServer } from '../support/postgres.js';
import { EMBEDDED } from '../support/tier.js';
import { TestStore } from '../storage/duckdb/test-store.js';
import { postgresOfProcess } from './control-stores.js';

/** An empty telemetry store under test, with its control store. */
export interface OpenedTelemetry {
  /** A new object after {@link reopen}, like the control store. */
  readonly store: TelemetryStore;
  readonly control: ControlStore;
  readonly clock: StillClock;
  /** Statuses reported to the daemon; empty if all is well. */
  readonly statuses: readonly Status[];
  /** @returns the id of a new user */
  readonly addUser: () => Promise<string>;
  /** Closes and reopens the store. */
  reopen(): Promise<void>;
  /** Advances the clock day by day and applies retention. */
  retained(days: number): Promise<void>;
  /** Waits until lists and sums that lag behind writes have caught up. */
  caughtUp(): Promise<void>;
  /** Waits until background work is done: compaction, merging and rollups. */
  settled(): Promise<void>;
  /** @returns inconsistencies in internal data that no contract shows, if any */
  wrongs(): Promise<readonly string[]>;
}

/** Options a suite would like; stores without them ignore them. */
interface Wanted {
  /** Rows per file, so that results come from several files. */
  readonly fileRows?: number;
}

export type OpenTelemetry = (t: Test, wanted?: Wanted) => Promise<OpenedTelemetry>;

type Suite = (t: Test, open: OpenTelemetry) => void;

let clickHouse: ReturnType<typeof ClickHouseServer.start> | undefined;

/**
 * Runs a suite on every implementation; skips ClickHouse with a reason if it cannot run.
 *
 * @param control control store of ClickHouse; PostgreSQL for suites about concurrent gateways
 */
export async function onEveryTelemetry(
  t: Test,
  suite: Suite,
  control: 'SQLite' | 'PostgreSQL' = 'SQLite',
): Promise<void> {
  await t.test('on DuckDB', EMBEDDED, async (t) => {
    t.setTimeout(0);
    suite(t, onDuckDb);
  });
  // One server for all files of this process.
  const server = await (clickHouse ??= ClickHouseServer.start(root));
  const postgres = control === 'PostgreSQL' ? await postgresOfProcess() : null;
  const skip = [server, postgres].find((started) => typeof started === 'string') ?? false;
  const name = control === 'PostgreSQL' ? 'on ClickHouse and PostgreSQL' : 'on ClickHouse';
  await t.test(name, { skip: typeof skip === 'string' && skip }, async (t) => {
    t.setTimeout(0);
    if (typeof server === 'string' || typeof postgres === 'string') return;
    suite(t, (t) => onClickHouse(t, server, postgres));
  });
}

async function onClickHouse(
  t: Test,
  server: ClickHouseServer,
  postgres: PostgresServer | null,
): Promise<OpenedTelemetry> {
  const control = postgres === null ? undefined : await openPostgresControl(t, postgres);
  const opened = await TestClickHouse.open(t, server, {}, control);
  const { database } = opened.options;
  return {
    get store() {
      return opened.store;
    },
    get control() {
      return opened.control;
    },
    clock: opened.settings.clock,
    statuses: opened.statuses,
    addUser: () => opened.addUser(),
    reopen: () => opened.reopen(),
    retained: async (days) => {
      opened.settings.clock.advance(days * MS_PER_DAY);
      await opened.store.applyRetention();
    },
    // Views are filled by the insert they follow.
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
  const size = fileRows === undefined ? {} : { segmentSize: { rows: fileRows, bytes: 1e9 }, filterBytes: 1 };
  // Small enough for a rebuild of many steps.
  const opened = await TestStore.open(t, { ...size, rebuildSize: { page: 100, part: 50 } });
  return {
    get store() {
      return opened.store;
    },
    get control() {
      return opened.control;
    },
    clock: opened.settings.clock,
    statuses: opened.statuses,
    addUser: () => opened.addUser(),
    reopen: () => opened.reopen(),
    retained: async (days) => {
      for (let day = 0; day < days; day++) await opened.retained(MS_PER_DAY);
    },
    // Acknowledged data is in every response immediately.
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
