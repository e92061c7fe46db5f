import type { Micros } from '../../../signal/time.js';
import type { Table } from '../../schema/table.js';
import { MAP_EDGES, MAP_NODES } from '../../schema/sum-tables.js';
import { noteRemovedPoints, noteRemovedRuns } from '../segments/cold-sums.js';
import { removeRows, type Connection } from '../files/connection.js';
import { isUnreadable } from '../files/damage.js';
import { noteRemovedCallSums } from '../segments/call-sums.js';
import { REMEMBERED } from '../write/named-batches.js';
import { hourOf } from '../../../signal/trace-map.js';
import type { Capture } from '../segments/segment.js';

const DAY = 86_400_000_000;

/**
 * The start of the first of the last `days` UTC days, including today. Older data is removed.
 *
 * @param now microseconds
 */
export function firstKeptTime(now: number, days: number): Micros {
  return (Math.floor(now / DAY) - days + 1) * DAY;
}

/** Whether a hot segment that can be compacted has rows to remove. @param isGone the condition for such rows */
export async function hasHotRows(
  connection: Connection,
  { hot }: Capture,
  table: Table,
  isGone: string,
): Promise<boolean> {
  const parts = hot
    .filter(({ isQuarantined }) => !isQuarantined)
    .map(({ catalog }) => `SELECT 1 AS found FROM ${catalog}.main.${table.name} WHERE ${isGone}`);
  return (await connection.rows(`${parts.join(' UNION ALL ')} LIMIT 1`)).length > 0;
}

/**
 * Removes the traces that started before a time, with their spans, payloads, links and filters, from the cold file. After a checkpoint,
 * later compactions reuse the space.
 *
 * @param bound the last commit that the oldest read expects in the cold file
 * @returns the number of removed runs and spans
 */
export async function removeOldTraces(
  connection: Connection,
  firstKept: Micros,
  bound: number,
): Promise<{ readonly traces: number; readonly spans: number }> {
  const isOld = `started_at < make_timestamp(${firstKept})`;
  const [old] = await connection.rows(`SELECT count(*) AS traces FROM cold.main.traces WHERE ${isOld}`);
  const traces = Number(old?.traces);
  let removedSpans = 0;
  if (traces === 0) return { traces, spans: 0 };
  await connection.run('BEGIN');
  try {
    await noteRemovedRuns(connection, isOld);
    const spans = `(SELECT * FROM cold.main.spans s WHERE EXISTS (SELECT 1 FROM cold.main.traces t WHERE t.${isOld} AND t.tenant = s.tenant AND t.trace_id = s.trace_id))`;
    await noteRemovedCallSums(connection, spans, bound);
    for (const table of ['spans', 'payloads', 'prompt_links']) {
      const count = await removeRows(
        connection,
        `cold.main.${table} d USING (SELECT tenant, trace_id FROM cold.main.traces WHERE ${isOld}) o WHERE d.tenant = o.tenant AND d.trace_id = o.trace_id`,
      );
      if (table === 'spans') removedSpans = count;
    }
    await connection.run(`DELETE FROM cold.main.traces WHERE ${isOld}`);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await removeOldFilters(connection);
  return { traces, spans: removedSpans };
}

/** Removes the filters of commits that have no rows left. They stay if damage hides which commits have rows; searches need none of them. */
async function removeOldFilters(connection: Connection): Promise<void> {
  try {
    await connection.run(
      `DELETE FROM cold.main.text_filters WHERE last_seq < (SELECT min(seq) FROM (SELECT seq FROM cold.main.traces UNION ALL SELECT seq FROM cold.main.spans))`,
    );
  } catch (error) {
    if (!isUnreadable(error)) throw error;
  }
}

/** Removes the contribution of traces that started before a time, a full hour, from the service map. */
export async function removeOldSums(connection: Connection, firstKept: Micros): Promise<void> {
  for (const { name } of [MAP_NODES, MAP_EDGES]) {
    await connection.run(`DELETE FROM cold.main.${name} WHERE hour < ${hourOf(firstKept)}`);
  }
}

/**
 * Removes the metric points before a time from the cold file.
 *
 * @returns the number of removed points by stream number
 */
export async function removeOldPoints(
  connection: Connection,
  firstKept: Micros,
): Promise<Map<number, number>> {
  const isOld = `timestamp < make_timestamp(${firstKept})`;
  const removed = await connection.rows(
    `SELECT stream_no, count(*) AS points FROM cold.main.points WHERE ${isOld} GROUP BY stream_no`,
  );
  if (removed.length > 0) {
    await connection.run('BEGIN');
    try {
      await noteRemovedPoints(connection, isOld);
      await connection.run(`DELETE FROM cold.main.points WHERE ${isOld}`);
      await connection.run('COMMIT');
    } catch (error) {
      await connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
  return new Map(removed.map((row) => [Number(row.stream_no), Number(row.points)]));
}

/** Removes expired batch names from the cold file. */
export async function forgetOldNames(connection: Connection, now: Micros): Promise<void> {
  const isOld = `received_at < make_timestamp(${now - REMEMBERED})`;
  const [found] = await connection.rows(
    `SELECT 1 AS found FROM cold.main.named_batches WHERE ${isOld} LIMIT 1`,
  );
  if (found !== undefined) await connection.run(`DELETE FROM cold.main.named_batches WHERE ${isOld}`);
}

/** Removes the events before a time from the cold file. @returns the number of removed events */
export async function removeOldEvents(connection: Connection, firstKept: Micros): Promise<number> {
  return await removeIfAny(connection, `cold.main.events WHERE timestamp < make_timestamp(${firstKept})`);
}

/** Removes the scores before a time from the cold file. @returns the number of removed scores */
export async function removeOldScores(connection: Connection, firstKept: Micros): Promise<number> {
  return await removeIfAny(connection, `cold.main.scores WHERE scored_at < make_timestamp(${firstKept})`);
}

async function removeIfAny(connection: Connection, old: string): Promise<number> {
  const [found] = await connection.rows(`SELECT 1 AS found FROM ${old} LIMIT 1`);
  return found === undefined ? 0 : await removeRows(connection, old);
}
