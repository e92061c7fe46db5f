import type { Micros } from '../../../signal/time.js';
import { MICROS_PER_DAY } from '../../../signal/time-units.js';
import type { RemovedRows } from '../../shared/kept-metrics.js';
import { placeOf, type Connection } from '../client/connection.js';
import { quoted } from '../client/literals.js';
import { onCluster, type ClickHouseTable, type TablePlace } from './table.js';

/**
 * Removes the days of tables that are past their retention. Idempotent and safe to run concurrently.
 *
 * @param days how many whole UTC days are kept, that of `now` not counted
 * @returns removed rows by table, counted on the connected server
 */
export async function removeOldDays(
  connection: Connection,
  place: TablePlace,
  tables: readonly Pick<ClickHouseTable, 'name'>[],
  days: number,
  now: Micros,
): Promise<RemovedRows> {
  const firstKept = Math.floor(now / MICROS_PER_DAY) - days;
  const removed: Record<string, number> = {};
  for (const { name } of tables) {
    let gone = 0;
    const old = await connection.rows(
      `SELECT toInt32(partition) AS day, sum(rows) AS rows FROM system.parts WHERE database = ${quoted(place.database)} AND table = ${quoted(name)} AND active AND toInt32OrNull(partition) < ${String(firstKept)} GROUP BY day ORDER BY day`,
    );
    for (const { day, rows } of old) {
      await connection.command(
        `ALTER TABLE ${placeOf(place.database, name)}${onCluster(place)} DROP PARTITION ${String(Number(day))}`,
      );
      gone += Number(rows);
    }
    removed[name] = gone;
  }
  return removed;
}
