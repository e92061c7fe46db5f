import type { Reads } from '../client/reads.js';
import type { ClickHouseColumn, ClickHouseTable, NewRow } from './table.js';

/** The name that the sender gave the batch of a row, as `nameOfBatch` makes it; zeros where it gave none. */
export const BATCH: ClickHouseColumn = { name: 'batch', type: 'UUID CODEC(ZSTD(1))' };
/** In place of the name of a batch that has none. */
export const NO_BATCH = '00000000-0000-0000-0000-000000000000';

/**
 * Those rows of a batch that an earlier write, of which nobody knows how it ended, has not stored. Rows of one day are stored together;
 * where some of them are there (of a batch that was too large for one block of an insert), all are given back: rather twice than never.
 *
 * @param table one that has {@link BATCH}
 * @param rows of one user
 */
export async function missingRows(
  reads: Pick<Reads, 'rows'>,
  table: ClickHouseTable,
  { tenant, batch }: { readonly tenant: number; readonly batch: string },
  rows: readonly NewRow[],
): Promise<readonly NewRow[]> {
  const wanted = new Map<number, number>();
  for (const { day } of rows) wanted.set(day, (wanted.get(day) ?? 0) + 1);
  if (wanted.size === 0) return rows;
  const stored = await reads.rows(
    `SELECT day, count() AS stored FROM ${table.name} WHERE tenant = ${tenant} AND day IN (${[...wanted.keys()].join(', ')}) AND batch = '${batch}' GROUP BY day`,
  );
  const whole = new Set(
    stored.flatMap((row) =>
      Number(row.stored) >= (wanted.get(Number(row.day)) ?? 0) ? [Number(row.day)] : [],
    ),
  );
  return rows.filter(({ day }) => !whole.has(day));
}
