import { Connection, placeOf } from '../client/connection.js';
import { named } from '../client/literals.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';
import { LOGS } from '../tables/log-tables.js';
import { METRICS, POINTS } from '../tables/metric-tables.js';
import { MESSAGES, SPANS } from '../tables/run-tables.js';
import { createTable, type ClickHouseTable } from '../tables/table.js';

/** Statements of an export may take longer than those for which somebody waits. */
const TIMEOUT_MS = 300_000;

/** Messages first: whoever sees a message finds its spans. */
const KEPT = [MESSAGES, SPANS, POINTS, METRICS, LOGS];

/** The traces of which there are messages, in the order in which they are exported: what is near in time lies together. */
export const EXPORTED_TRACES: ClickHouseTable = {
  name: 'exported_traces',
  columns: [
    /** The first one in which the run may be found. */
    { name: 'hour', type: 'Int32' },
    /** The order of its first message. */
    { name: 'first', type: 'UInt64' },
    { name: 'tenant', type: 'UInt32' },
    { name: 'trace_id', type: 'UUID' },
    /** How many its messages brought, repeats too. */
    { name: 'spans', type: 'UInt64' },
  ],
  partition: 'tuple()',
  order: 'hour, first, tenant, trace_id',
};

/**
 * The facts of a store as they were at one moment, in a database of their own beside it, whose tables have the same names: the same
 * statements read them. ClickHouse makes it of links to the files that there are, so that it takes milliseconds and no room, and neither
 * merges nor retention wait for it; what they remove meanwhile takes room until it goes.
 */
export class StoreSnapshot {
  readonly reads: Connection;
  readonly #store: Connection;
  readonly #database: string;

  private constructor(store: Connection, reads: Connection, database: string) {
    this.#store = store;
    this.reads = reads;
    this.#database = database;
  }

  /**
   * One at a time. What an export left that was killed is removed.
   *
   * @param store the connection of the store
   * @throws ConsumeError
   */
  static async take(store: Connection, options: ClickHouseOptions): Promise<StoreSnapshot> {
    const database = `${options.database}_export`;
    await drop(store, database);
    await store.command(`CREATE DATABASE ${named(database)}`);
    try {
      const place = { database, cluster: null, isReplicated: false };
      for (const table of [...KEPT, EXPORTED_TRACES]) await store.command(createTable(place, table));
      for (const { name } of KEPT)
        await store.commandOnce(
          `ALTER TABLE ${placeOf(database, name)} ATTACH PARTITION ALL FROM ${placeOf(options.database, name)}`,
        );
      await store.command(
        `INSERT INTO ${placeOf(database, EXPORTED_TRACES.name)} SELECT min(arrayMin(hours)), min(seq), tenant, trace_id, sum(spans)
         FROM ${placeOf(database, MESSAGES.name)} WHERE kind = 'header' GROUP BY tenant, trace_id`,
        // So it needs no memory for all traces.
        { optimize_aggregation_in_order: 1 },
      );
      const place2 = { database, now: () => performance.now() };
      const reads = await Connection.open(
        { ...options, timeoutMs: Math.max(options.timeoutMs, TIMEOUT_MS) },
        place2,
      );
      return new StoreSnapshot(store, reads, database);
    } catch (error) {
      await drop(store, database).catch(() => undefined);
      throw error;
    }
  }

  /** How many spans messages brought, and how many points and log records there are. */
  async rows(): Promise<number> {
    const counts = [
      `SELECT sum(spans) AS rows FROM ${EXPORTED_TRACES.name}`,
      ...[POINTS, LOGS].map(({ name }) => `SELECT count() AS rows FROM ${name}`),
    ];
    const found = await Promise.all(counts.map(async (sql) => await this.reads.rows(sql)));
    return found.reduce((sum, [row]) => sum + Number(row?.rows ?? 0), 0);
  }

  /** @throws ConsumeError where it could not be removed: the next one that is taken does so */
  async remove(): Promise<void> {
    await this.reads.close();
    await drop(this.#store, this.#database);
  }
}

async function drop(store: Connection, database: string): Promise<void> {
  await store.command(`DROP DATABASE IF EXISTS ${named(database)} SYNC`);
}
