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

/** A telemetry store to check, empty at first, with the control plane that it goes with. */
export interface OpenedTelemetry {
  /** Another object after {@link reopen}; likewise the control plane. */
  readonly store: TelemetryStore;
  readonly control: ControlStore;
  readonly clock: StillClock;
  /** What it told the daemon: nothing, as long as all is well. */
  readonly statuses: readonly Status[];
  /** @returns the id of a new user */
  readonly addUser: () => Promise<string>;
  /** The same after it was closed. */
  reopen(): Promise<void>;
  /** Lets time pass, a day at a time, and retention remove what is too old then. */
  retained(days: number): Promise<void>;
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

export type OpenTelemetry = (t: Test, wanted?: Wanted) => Promise<OpenedTelemetry>;

type Suite = (t: Test, open: OpenTelemetry) => void;

let clickHouse: ReturnType<typeof ClickHouseServer.start> | undefined;

/**
 * Runs a suite on every implementation; on ClickHouse it is skipped, with the reason, where that cannot run.
 *
 * @param control what ClickHouse goes with: PostgreSQL where a suite is about what gateways that write at the same time have there
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
  // One for all files of this process.
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
    clock: opened.settings.clock,
    statuses: opened.statuses,
    addUser: () => opened.addUser(),
    reopen: () => opened.reopen(),
    retained: async (days) => {
      for (let day = 0; day < days; day++) await opened.retained(MS_PER_DAY);
    },
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
