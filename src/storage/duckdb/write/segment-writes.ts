import type { Table } from '../../schema/table.js';
import { TableAppender } from '../files/appender.js';
import type { Connection } from '../files/connection.js';
import type { Segment } from '../segments/segment.js';
import type { Change } from './change.js';
import type { Rows } from './rows.js';

/** Writes rows into a segment in one transaction. @param connection the writer's @throws Error of DuckDB: nothing is written then */
export async function writeRows(
  connection: Connection,
  { catalog }: Segment,
  written: readonly Rows[],
): Promise<void> {
  const appenders = new Map<Table, TableAppender>();
  await connection.run('BEGIN');
  try {
    for (const { table, source, from, to, assigned } of written) {
      let appender = appenders.get(table);
      if (appender === undefined) {
        appender = new TableAppender(connection, catalog, table);
        appenders.set(table, appender);
      }
      appender.append(source, from, to, assigned);
    }
    for (const appender of appenders.values()) appender.close();
    await connection.run('COMMIT');
  } catch (error) {
    for (const appender of appenders.values()) appender.abandon();
    // A commit that failed has ended the transaction, so rolling back fails.
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Counts what a commit has written into a segment, which decides when that is sealed.
 *
 * @param of.written all of its rows
 * @param of.settled the rows of traces
 * @param of.changes what was committed
 */
export function countWritten(
  segment: Segment,
  seq: number,
  of: {
    readonly written: readonly Rows[];
    readonly applied: readonly Rows[];
    readonly changes: readonly Change[];
  },
): void {
  const { written, applied, changes } = of;
  segment.lastSeq = seq;
  for (const { table, from, to, replacing } of written) {
    segment.rows += to - from;
    segment.replacing.set(table.name, (segment.replacing.get(table.name) ?? 0) + replacing);
  }
  for (const change of changes) {
    if (change.kind === 'batch') segment.bytes += change.batch.bytes;
    else if (change.kind === 'append') segment.bytes += change.append.bytes;
  }
  // What a commit writes beyond the batches: new versions of headers, payloads of late spans, outcomes, links.
  const sent = new Set(
    changes.flatMap((change) =>
      change.kind === 'batch' ? [change.batch.spans.textBuffer, change.batch.traces.textBuffer] : [],
    ),
  );
  for (const rows of applied) if (!sent.has(rows.source.textBuffer)) segment.bytes += bytesOf(rows);
}

/** The share of the source's bytes that these rows have, roughly. */
function bytesOf({ source, from, to }: Rows): number {
  const bytes = source.fixed.byteLength + source.textBuffer.byteLength;
  return source.rows === 0 ? 0 : (bytes * (to - from)) / source.rows;
}
