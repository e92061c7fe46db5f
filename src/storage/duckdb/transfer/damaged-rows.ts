import type { MissingRows } from '../../contracts/transfer.js';
import { LOGS } from '../../schema/log-tables.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { SCORES } from '../../schema/scores-table.js';
import type { Table } from '../../schema/table.js';
import { PAYLOADS, POINTS, SPANS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { isUnreadable } from '../files/damage.js';
import type { Row } from '../files/plain-rows.js';
import { ofCommitsBetween, union, type CommitRange } from '../segments/commit-ranges.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** Tables of an export that may lack rows, each with the stored tables that hold its rows and their times. */
const SOURCES = {
  runs: { rows: TRACES, times: TRACES, time: 'started_at' },
  spans: { rows: SPANS, times: SPANS, time: 'started_at' },
  payloads: { rows: PAYLOADS, times: SPANS, time: 'started_at' },
  links: { rows: PROMPT_LINKS, times: PROMPT_LINKS, time: 'linked_at' },
  points: { rows: POINTS, times: POINTS, time: 'timestamp' },
  logs: { rows: LOGS, times: LOGS, time: 'timestamp' },
  scores: { rows: SCORES, times: SCORES, time: 'scored_at' },
} as const satisfies Readonly<Record<string, { rows: Table; times: Table; time: string }>>;
export type SkippedTable = keyof typeof SOURCES;

/** Whether rows of a table can be left out. The others are read at every start, which fails if they are damaged. */
export function isSkippable(table: string): table is SkippedTable {
  return Object.hasOwn(SOURCES, table);
}

/**
 * Reads the rows of a range of commits. A range with a damaged block is halved, down to single commits.
 *
 * @param read must leave nothing behind if it fails
 * @returns the commits that cannot be read
 */
export async function readAround(
  range: CommitRange,
  read: (part: CommitRange) => Promise<void>,
): Promise<readonly CommitRange[]> {
  try {
    await read(range);
    return [];
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const { first, last } = range;
    if (first === last) return [range];
    const middle = Math.floor((first + last) / 2);
    const left = await readAround({ first, last: middle }, read);
    return union([...left, ...(await readAround({ first: middle + 1, last }, read))]);
  }
}

/** Describes unreadable rows as far as possible: other columns of them may be in undamaged blocks. */
export async function describeMissing(
  connection: Connection,
  capture: Capture,
  table: SkippedTable,
  { first, last }: CommitRange,
): Promise<MissingRows> {
  const { rows, times, time } = SOURCES[table];
  const where = ofCommitsBetween(first, last);
  const found = await readable(
    connection,
    `SELECT count(*) AS rows, array_to_string(list(DISTINCT tenant), ' ') AS users FROM ${relation(capture, rows, where)}`,
  );
  const span = await readable(
    connection,
    `SELECT epoch_us(min(${time})) AS first, epoch_us(max(${time})) AS last FROM ${relation(capture, times, where)}`,
  );
  return {
    table,
    commits: [first, last],
    rows: numberIn(found, 'rows'),
    users: typeof found?.users === 'string' ? found.users.split(' ').filter(Boolean).map(Number) : null,
    from: numberIn(span, 'first'),
    to: numberIn(span, 'last'),
  };
}

async function readable(connection: Connection, sql: string): Promise<Row | undefined> {
  try {
    return (await connection.rows(sql))[0];
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return undefined;
  }
}

function numberIn(row: Row | undefined, column: string): number | null {
  const value = row?.[column] ?? null;
  return value === null ? null : Number(value);
}
