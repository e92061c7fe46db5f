import { basename } from 'node:path';
import { invariant } from '../../../signal/checked.js';
import type { Table } from '../../schema/table.js';
import { REPLACED_IN_QUARANTINE, SEGMENT_TABLES, VERSIONED_TABLES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { isVersionOf } from './relation.js';
import { COLD, type Segment } from './segment.js';

/** The entry of a quarantined segment in the table `segments_aside` of the cold file. */
export interface QuarantineNote {
  /** The segment's number. */
  readonly segment: number;
  /** The last commit in it, or a later one if it could not be read. */
  readonly lastSeq: number;
  /** Upper bound of its small numbers (agents, nodes, metrics, origins). */
  readonly lastNumber: number;
  /** Whether its rows are read from its file; false if it cannot be read. */
  readonly isRead: boolean;
}

/** Upper bound on the small numbers of a kind in one segment, which has some hundred thousand rows. */
const MOST_NUMBERS = 1_000_000;

export async function quarantineNotes(connection: Connection): Promise<QuarantineNote[]> {
  const rows = await connection.rows(
    `SELECT segment, last_seq, last_number, is_read FROM ${COLD}.main.segments_aside`,
  );
  return rows.map((row) => ({
    segment: Number(row.segment),
    lastSeq: Number(row.last_seq),
    lastNumber: Number(row.last_number),
    isRead: row.is_read === true,
  }));
}

/**
 * Notes a segment, or updates its note.
 *
 * @param lastSeq see {@link QuarantineNote.lastSeq}
 * @param others the other readable hot segments
 */
export async function noteQuarantine(
  connection: Connection,
  note: Pick<QuarantineNote, 'segment' | 'lastSeq' | 'isRead'>,
  others: readonly Segment[],
): Promise<void> {
  const { segment, lastSeq, isRead } = note;
  const numbers = [COLD, ...others.map(({ catalog }) => catalog)].flatMap((catalog) =>
    Object.entries(NUMBERED).map(
      ([table, column]) => `SELECT max(${column}) AS number FROM ${catalog}.main.${table}`,
    ),
  );
  numbers.push(`SELECT max(last_number) AS number FROM ${COLD}.main.segments_aside`);
  const [row] = await connection.rows(
    `SELECT coalesce(max(number), 0)::BIGINT AS number FROM (${numbers.join(' UNION ALL ')})`,
  );
  await connection.run(`DELETE FROM ${COLD}.main.segments_aside WHERE segment = ${segment}`);
  await connection.run(
    `INSERT INTO ${COLD}.main.segments_aside VALUES (${segment}, ${lastSeq}, ${Number(row?.number) + MOST_NUMBERS}, ${isRead})`,
  );
}

/** Tables that assign small numbers, and their number columns. */
const NUMBERED = {
  agents: 'agent_no',
  services: 'node_no',
  metric_streams: 'stream_no',
  origins: 'origin_no',
} as const;

/** Notes that an unreadable segment is readable again and that its rows are read from now on. */
export async function noteReadAgain(connection: Connection, { number }: Segment): Promise<void> {
  await connection.run(`UPDATE ${COLD}.main.segments_aside SET is_read = true WHERE segment = ${number}`);
}

/** Removes the entry of a segment that was compacted or whose file is gone. */
export async function forgetQuarantine(connection: Connection, segment: number): Promise<void> {
  for (const table of ['segments_aside', REPLACED_IN_QUARANTINE.name]) {
    await connection.run(`DELETE FROM ${COLD}.main.${table} WHERE segment = ${segment}`);
  }
}

/**
 * Notes which rows of a quarantined segment are superseded by a segment that is about to be compacted, within the transaction of
 * that compaction.
 */
export async function noteReplacedBy(
  connection: Connection,
  quarantined: Segment,
  { catalog }: Segment,
): Promise<void> {
  for (const table of VERSIONED_TABLES) {
    await noteReplaced(connection, quarantined, table, [`${catalog}.main.${table.name} WHERE replaces`]);
  }
}

/**
 * The same for a segment that is readable again. Later rows were written without its rows, so newer versions may not be marked as
 * replacing them.
 *
 * @param later the hot segments after it
 */
export async function noteReplacedMeanwhile(
  connection: Connection,
  quarantined: Segment,
  later: readonly Segment[],
): Promise<void> {
  for (const table of VERSIONED_TABLES) {
    const catalogs = [COLD, ...later.map(({ catalog }) => catalog)];
    await noteReplaced(
      connection,
      quarantined,
      table,
      catalogs.map((catalog) => `${catalog}.main.${table.name} WHERE seq > ${quarantined.lastSeq}`),
    );
  }
}

/** One note per row is enough: every version in a later segment is newer than all versions in the quarantined one. */
async function noteReplaced(
  connection: Connection,
  { number, catalog }: Segment,
  table: Table,
  newer: readonly string[],
): Promise<void> {
  const keys = invariant(table.versionOf, 'key of a table with versions');
  const others = REPLACED_IN_QUARANTINE.wire
    .slice(2)
    .map(({ name, sql }) => (keys.includes(name) ? `n.${name}` : `NULL::${sql}`));
  const list = ['tenant', ...keys].join(', ');
  const rows = newer.map((from) => `SELECT ${list}, seq FROM ${from}`).join(' UNION ALL ');
  await connection.run(
    `INSERT INTO ${COLD}.main.${REPLACED_IN_QUARANTINE.name}
      SELECT min(n.seq), n.tenant, ${number}, '${table.name}', ${others.join(', ')} FROM (${rows}) n
      WHERE EXISTS (SELECT 1 FROM ${catalog}.main.${table.name} o WHERE ${isVersionOf(table, 'o', 'n')})
      AND NOT EXISTS (SELECT 1 FROM ${COLD}.main.${REPLACED_IN_QUARANTINE.name} r WHERE r.segment = ${number} AND r.table_name = '${table.name}' AND ${isVersionOf(table, 'r', 'n')})
      GROUP BY ${['tenant', ...keys].map((key) => `n.${key}`).join(', ')}`,
  );
}

/** The first commit of a segment. */
export async function firstSeqOf(connection: Connection, { catalog }: Segment): Promise<number> {
  const parts = SEGMENT_TABLES.map(
    ({ name }) => `SELECT min(seq) AS seq FROM ${catalog}.main.${name} WHERE seq > 0`,
  );
  const [row] = await connection.rows(
    `SELECT coalesce(min(seq), 0) AS seq FROM (${parts.join(' UNION ALL ')})`,
  );
  return Number(row?.seq);
}

/** Message of the log and `/readyz` for a quarantined segment that is still read. */
export function quarantineMessage(path: string): string {
  return `The segment ${basename(path)} could not be compacted into the cold file and was quarantined. Its rows are still read, and compaction is retried regularly and at each start.`;
}

/** Message of the log and `/readyz` for an unreadable segment. */
export function unreadableMessage(path: string): string {
  return `The segment ${basename(path)} is damaged and was quarantined: its data is missing from all results. Its file is unchanged and retried at each start; restore an intact copy, or move it away to continue without it.`;
}
