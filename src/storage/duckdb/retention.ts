import type { Connection } from './database.js';

const DAY = 86_400_000_000;

/**
 * Removes the traces that started before the first of the `days` UTC days that are kept, with their spans and payloads,
 * from the cold file. The space is used again by what is moved next.
 *
 * @param now microseconds
 */
export async function removeOldTraces(connection: Connection, now: number, days: number): Promise<void> {
  const firstKept = (Math.floor(now / DAY) - days + 1) * DAY;
  const isOld = `started_at < make_timestamp(${firstKept})`;
  const [old] = await connection.rows(`SELECT count(*) AS traces FROM cold.main.traces WHERE ${isOld}`);
  if (old?.traces === 0) return;
  await connection.run('BEGIN');
  try {
    for (const table of ['spans', 'payloads']) {
      await connection.run(
        `DELETE FROM cold.main.${table} d USING (SELECT tenant, trace_id FROM cold.main.traces WHERE ${isOld}) o WHERE d.tenant = o.tenant AND d.trace_id = o.trace_id`,
      );
    }
    await connection.run(`DELETE FROM cold.main.traces WHERE ${isOld}`);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await connection.run('CHECKPOINT cold');
}
