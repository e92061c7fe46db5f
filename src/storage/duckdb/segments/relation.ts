import type { Table } from '../../schema/table.js';
import { REPLACED_IN_QUARANTINE } from '../../schema/tables.js';
import type { CommitRange, OfCommits } from './commit-ranges.js';
import { COLD, type Capture, type Segment } from './segment.js';

/**
 * A condition on rows, optionally limited to certain commits. Files without these commits are left out, because DuckDB takes a
 * millisecond to plan each file of a statement.
 */
export type Condition = string | OfCommits;
type Where = Condition | readonly Condition[];

/**
 * A table as a read sees it: the rows of the captured hot segments and of the cold file.
 *
 * @param where a condition applied to each part, so that each part prunes by it; or several that are mutually exclusive
 */
export function relation(capture: Capture, table: Table, where: Where = 'TRUE'): string {
  const conditions = isList(where) ? where : [where];
  const parts = conditions.flatMap((condition) => partsOf(capture, table, condition));
  return `(${parts.length === 0 ? coldPartOf(capture, table, 'FALSE') : parts.join(' UNION ALL ')})`;
}

function isList(where: Where): where is readonly Condition[] {
  return Array.isArray(where);
}

/** The parts of a {@link relation}, each a separate SELECT. */
function partsOf(capture: Capture, table: Table, where: Condition): string[] {
  if (typeof where === 'string')
    return [coldPartOf(capture, table, where), ...hotPartsOf(capture, table, where)];
  const { commits, sql } = where;
  const isInCold = commits.some(({ first }) => first <= capture.bound);
  return [
    ...(isInCold ? [coldPartOf(capture, table, sql)] : []),
    ...hotPartsOf(capture, table, sql, commits),
  ];
}

/** The part of a {@link relation} in the cold file. */
export function coldOf(capture: Capture, table: Table, where: string): string {
  return `(${coldPartOf(capture, table, where)})`;
}

function coldPartOf(capture: Capture, table: Table, where: string): string {
  return `SELECT * FROM ${COLD}.main.${table.name} WHERE seq <= ${capture.bound} AND ${where}`;
}

/** The parts that read hot segments. @param commits the only ones whose rows can meet the condition */
export function hotPartsOf(
  capture: Capture,
  table: Table,
  where: string,
  commits: readonly CommitRange[] = EVERY_COMMIT,
): string[] {
  return segmentsWith(capture, commits).map((segment) => {
    const isLeft = isNotReplaced(segment, table, ` AND r.${seen(capture)}`);
    return `SELECT * FROM ${segment.catalog}.main.${table.name} o WHERE ${seen(capture)} AND ${where}${isLeft}`;
  });
}

const EVERY_COMMIT = [{ first: 0, last: Number.MAX_SAFE_INTEGER }];

/**
 * The hot segments that may have rows of certain commits. Each segment begins after the previous one ends; of a quarantined segment
 * only the last commit is stored.
 */
function segmentsWith({ hot, bound }: Capture, commits: readonly CommitRange[]): Segment[] {
  let before = bound;
  return hot.filter(({ lastSeq, isQuarantined }) => {
    const after = isQuarantined ? 0 : before;
    if (!isQuarantined) before = Math.max(before, lastSeq);
    return commits.some(({ first, last }) => first <= lastSeq && last > after) && lastSeq > 0;
  });
}

/** The rows of a segment, as a source for a SELECT. */
export function rowsOf(segment: Segment, table: Table): string {
  const from = `${segment.catalog}.main.${table.name}`;
  const isLeft = isNotReplaced(segment, table);
  return isLeft === '' ? from : `(SELECT * FROM ${from} o WHERE TRUE${isLeft})`;
}

/**
 * For a quarantined segment: the condition that excludes rows `o` superseded by versions that were compacted earlier. Empty for
 * other segments.
 *
 * @param condition a further condition on the notes `r` of those versions
 */
export function isNotReplaced({ isQuarantined, number }: Segment, table: Table, condition = ''): string {
  if (!isQuarantined || table.versionOf === undefined) return '';
  return ` AND NOT EXISTS (SELECT 1 FROM ${COLD}.main.${REPLACED_IN_QUARANTINE.name} r WHERE r.segment = ${number} AND r.table_name = '${table.name}' AND ${isVersionOf(table, 'r', 'o')}${condition})`;
}

/** Like {@link relation}, without superseded rows. */
export function newest(capture: Capture, table: Table, where: Where = 'TRUE'): string {
  return withoutReplaced(capture, table, relation(capture, table, where));
}

/** The part of {@link newest} in hot segments; null if absent. */
export function newestHot(capture: Capture, table: Table, where: string): string | null {
  const parts = hotPartsOf(capture, table, where);
  return parts.length === 0 ? null : withoutReplaced(capture, table, `(${parts.join(' UNION ALL ')})`);
}

/** Whether hot segments hold newer versions of rows of this table. */
export function hasReplacing({ hot }: Capture, table: Table): boolean {
  return hot.some((segment) => (segment.replacing.get(table.name) ?? 0) > 0);
}

function withoutReplaced(capture: Capture, table: Table, all: string): string {
  const replacing = capture.hot.filter((segment) => (segment.replacing.get(table.name) ?? 0) > 0);
  const { versionOf } = table;
  if (versionOf === undefined || replacing.length === 0) return all;
  const newer = replacing.map(
    (segment) =>
      `SELECT tenant, ${versionOf.join(', ')}, seq FROM ${segment.catalog}.main.${table.name} WHERE replaces AND ${seen(capture)}`,
  );
  return newestOf(table, all, `(${newer.join(' UNION ALL ')})`);
}

/** The rows without a newer version in `newer`. Both are relations. */
export function newestOf(table: Table, rows: string, newer: string): string {
  return `(SELECT * FROM ${rows} o WHERE NOT EXISTS (SELECT 1 FROM ${newer} n WHERE ${isVersionOf(table, 'n', 'o')} AND n.seq > o.seq))`;
}

/** The condition that rows of two relations are versions of the same thing. */
export function isVersionOf({ versionOf = [] }: Table, one: string, other: string): string {
  return ['tenant', ...versionOf].map((column) => `${one}.${column} = ${other}.${column}`).join(' AND ');
}

function seen(capture: Capture): string {
  return `seq <= ${capture.lastSeq}`;
}
