import type { Meter } from '../../../component/telemetry.js';
import { MICROS_PER_DAY } from '../../../signal/time-units.js';
import { KeptMetrics } from '../../shared/kept-metrics.js';
import type { Connection } from '../client/connection.js';
import { quoted } from '../client/literals.js';
import { LOGS } from './log-tables.js';
import { POINTS } from './metric-tables.js';
import { RUNS } from './run-tables.js';

/** Metrics of the tables: their size, and the first day of each signal. ClickHouse keeps both in memory, for each part. */
export class StoreSizes {
  readonly kept: KeptMetrics;
  readonly #meter: Meter;
  readonly #database: string;
  readonly #bytes = new Map<string, number>();
  readonly #ends: (() => void)[] = [];

  constructor(meter: Meter, database: string) {
    this.kept = new KeptMetrics(meter);
    this.#meter = meter;
    this.#database = database;
  }

  /** Queries one server, which has all data or one shard. */
  async update(connection: Connection): Promise<void> {
    const rows = await connection.rows(
      `SELECT table, sum(bytes_on_disk) AS bytes, minOrNull(toInt32OrNull(partition)) AS day FROM system.parts WHERE database = ${quoted(this.#database)} AND active GROUP BY table`,
    );
    const days = new Map(rows.map(({ table, day }) => [table, day]));
    const oldest = ({ name }: { readonly name: string }): number | null => {
      const day = days.get(name) ?? null;
      return day === null ? null : Number(day) * MICROS_PER_DAY;
    };
    this.kept.update({ traces: oldest(RUNS), metrics: oldest(POINTS), logs: oldest(LOGS) });
    for (const table of this.#bytes.keys()) this.#bytes.set(table, 0);
    for (const { table, bytes } of rows) {
      const name = String(table);
      if (!this.#bytes.has(name)) this.#show(name);
      this.#bytes.set(name, Number(bytes));
    }
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end();
    this.kept.end();
  }

  #show(table: string): void {
    this.#ends.push(
      this.#meter.gauge(
        'store_table_bytes',
        { description: 'Size of the ClickHouse tables on disk.', labelNames: ['table'] },
        () => this.#bytes.get(table) ?? 0,
        { table },
      ),
    );
  }
}
