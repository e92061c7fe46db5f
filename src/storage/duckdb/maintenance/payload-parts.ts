import { itemAt } from '../../../signal/checked.js';
import { PAYLOADS } from '../../schema/tables.js';
import { narrowed, ofCommitsBetween, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { PART_BYTES } from '../segments/read-limits.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** The key of a piece of payload lines; also the order of pieces. */
const PLACE = 'seq, tenant, trace_id, first_line';

/**
 * Divides payloads into parts that fit into memory: {@link PART_BYTES} plus one piece.
 *
 * @param where which payloads
 * @returns a condition on `payloads` for each part
 */
export async function payloadParts(
  connection: Connection,
  capture: Capture,
  where: OfCommits,
): Promise<readonly OfCommits[]> {
  const inOrder = `OVER (ORDER BY ${PLACE} ROWS UNBOUNDED PRECEDING)`;
  const end = (which: 'min' | 'max'): string =>
    ['seq', 'tenant', 'trace_id::VARCHAR', 'first_line']
      .map((column, i) => `arg_${which}(${column}, place) AS ${which}_${i}`)
      .join(', ');
  const rows = await connection.rows(
    `SELECT ${end('min')}, ${end('max')}
     FROM (SELECT ${PLACE}, row_number() ${inOrder} AS place, (sum(bytes) ${inOrder} - bytes) // ${PART_BYTES} AS part
           FROM ${relation(capture, PAYLOADS, where)})
     GROUP BY part ORDER BY part`,
  );
  return rows.map((row) => {
    const [first, last] = [placeOf(row, 'min'), placeOf(row, 'max')];
    const commits = ofCommitsBetween(Number(row.min_0), Number(row.max_0));
    return narrowed(commits, `${isBeyond('>', first)} AND ${isBeyond('<', last)}`);
  });
}

/** The values of {@link PLACE} in SQL. */
function placeOf(row: Row, which: 'min' | 'max'): readonly string[] {
  const [seq, tenant, traceId, line] = [0, 1, 2, 3].map((i) => String(row[`${which}_${i}`]));
  // Formatted from its binary form, so that nothing needs to be escaped.
  return [Number(seq), Number(tenant), `'${traceId}'::UUID`, Number(line)].map(String);
}

/**
 * The condition that a row is at that place or beyond it. Not a row comparison: DuckDB 1.5.5 combines two of them into a BETWEEN
 * and fails.
 */
function isBeyond(sign: '<' | '>', place: readonly string[]): string {
  return PLACE.split(', ').reduceRight((rest, column, i) => {
    const value = itemAt(place, i);
    return rest === ''
      ? `${column} ${sign}= ${value}`
      : `(${column} ${sign} ${value} OR (${column} = ${value} AND ${rest}))`;
  }, '');
}
