import type { Reads } from '../client/reads.js';
import type { ClickHouseColumn, ClickHouseTable, NewRow } from './table.js';

/** The batch name of a row, from `nameOfBatch`; zeros if the sender gave none. */
export const BATCH: ClickHouseColumn = { name: 'batch', type: 'UUID CODEC(ZSTD(1))' };
/** The name of a batch without a name. */
export const NO_BATCH = '00000000-0000-0000-0000-000000000000';

/**
 * Rows of a batch that an earlier write with unknown result did not store. Rows of one day are stored together; if only some of them exist
 * (of a batch too large for one insert block), all are returned: duplicates are better than loss.
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
