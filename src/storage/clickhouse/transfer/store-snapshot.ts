import { Connection, placeOf } from '../client/connection.js';
import { named } from '../client/literals.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';
import { LOGS } from '../tables/log-tables.js';
import { METRICS, POINTS } from '../tables/metric-tables.js';
import { SCORES } from '../tables/score-tables.js';
import { MESSAGES, SPANS } from '../tables/run-tables.js';
import { createTable, type ClickHouseTable } from '../tables/table.js';

/** Timeout of export statements, longer than for interactive reads. */
const TIMEOUT_MS = 300_000;

/** Messages first, so that the spans of every message in the snapshot are in it too. */
const KEPT = [MESSAGES, SPANS, POINTS, METRICS, LOGS, SCORES];

/** Traces with messages, in export order, which is roughly by time. */
export const EXPORTED_TRACES: ClickHouseTable = {
  name: 'exported_traces',
  columns: [
    /** The first hour whose rows may contain the run. */
    { name: 'hour', type: 'Int32' },
    /** The order of its first message. */
    { name: 'first', type: 'UInt64' },
    { name: 'tenant', type: 'UInt32' },
    { name: 'trace_id', type: 'UUID' },
    /** Number of spans in its messages, including repeats. */
    { name: 'spans', type: 'UInt64' },
  ],
  partition: 'tuple()',
  order: 'hour, first, tenant, trace_id',
};

/**
 * A snapshot of a store's facts in a separate database with the same table names, so that the same statements read it. ClickHouse creates
 * it from hard links, which takes milliseconds and no disk space and blocks neither merges nor retention. Data they remove uses disk space
 * until the snapshot is removed.
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
   * Only one snapshot exists at a time. Removes the snapshot of a killed export.
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
        // Avoids holding all traces in memory.
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

  /** Number of spans in messages, points, log records and scores. */
  async rows(): Promise<number> {
    const counts = [
      `SELECT sum(spans) AS rows FROM ${EXPORTED_TRACES.name}`,
      ...[POINTS, LOGS, SCORES].map(({ name }) => `SELECT count() AS rows FROM ${name}`),
    ];
    const found = await Promise.all(counts.map(async (sql) => await this.reads.rows(sql)));
    return found.reduce((sum, [row]) => sum + Number(row?.rows ?? 0), 0);
  }

  /** @throws ConsumeError if the removal failed; the next snapshot retries it */
  async remove(): Promise<void> {
    await this.reads.close();
    await drop(this.#store, this.#database);
  }
}

async function drop(store: Connection, database: string): Promise<void> {
  await store.command(`DROP DATABASE IF EXISTS ${named(database)} SYNC`);
}
