import type { Micros } from '../../../signal/time.js';
import type { Connection } from '../files/connection.js';
import { extremesOf } from '../segments/extremes.js';
import type { Capture } from '../segments/segment.js';
import { isBehind, type PlacedFilter } from './log-condition.js';
import type { PositionRange } from './positions.js';

/** A user's records in a block of the cold file. They are adjacent, in the order of their times. */
export interface LogBlock {
  readonly block: number;
  /** The last commit of the segment that the records came from; of the newest segment if there were several. */
  readonly seq: number;
  readonly firstPosition: number;
  readonly records: number;
  readonly oldest: Micros;
  readonly newest: Micros;
}

type Times = Pick<PlacedFilter, 'start_time' | 'end_time' | 'after'>;

/** The blocks in which a user may have records of these times, newest first. */
export async function logBlocks(
  connection: Connection,
  capture: Capture,
  tenant: number,
  times: Times,
): Promise<LogBlock[]> {
  const rows = await connection.rows(
    `SELECT block, seq, first_position, records, epoch_us(oldest) AS oldest, epoch_us(newest) AS newest
      FROM cold.main.log_blocks WHERE tenant = ${tenant} AND seq <= ${capture.bound} AND ${within('oldest', 'newest', times)}
      ORDER BY newest DESC, block DESC`,
  );
  return rows.map((row) => ({
    block: Number(row.block),
    seq: Number(row.seq),
    firstPosition: Number(row.first_position),
    records: Number(row.records),
    oldest: Number(row.oldest),
    newest: Number(row.newest),
  }));
}

/** The positions of the records of a time range in each block. Blocks without such records are left out. */
export async function positionRanges(
  connection: Connection,
  tenant: number,
  blocks: readonly LogBlock[],
  times: Times,
): Promise<Map<number, PositionRange>> {
  const ranges = new Map<number, PositionRange>();
  const partial = blocks.filter((block) => isPartial(block, times));
  for (const block of blocks) ranges.set(block.block, wholeRange(block));
  if (partial.length === 0) return ranges;
  const wanted = new Set(partial.map(({ block }) => block));
  for (const block of wanted) ranges.delete(block);
  const { least, most } = extremesOf(wanted);
  const rows = await connection.rows(
    `SELECT log_no >> 16 AS block, min(log_no & 65535) AS first, max(log_no & 65535) AS last
      FROM cold.main.logs WHERE tenant = ${tenant} AND ${within('timestamp', 'timestamp', times)} AND ${times.after === undefined ? 'TRUE' : isBehind(times.after)}
      AND log_no >= ${least} << 16 AND log_no < ${most + 1} << 16 GROUP BY block`,
  );
  for (const row of rows) {
    // A list of all those blocks in the statement could be as long as the history.
    if (wanted.has(Number(row.block)))
      ranges.set(Number(row.block), { first: Number(row.first), last: Number(row.last) });
  }
  return ranges;
}

function wholeRange({ firstPosition, records }: LogBlock): PositionRange {
  return { first: firstPosition, last: firstPosition + records - 1 };
}

function isPartial({ oldest, newest }: LogBlock, { start_time, end_time, after }: Times): boolean {
  return (
    (start_time !== undefined && oldest < start_time) ||
    (end_time !== undefined && newest > end_time) ||
    (after !== undefined && newest >= after.timestamp)
  );
}

function within(oldest: string, newest: string, { start_time, end_time, after }: Times): string {
  const conditions = ['TRUE'];
  if (start_time !== undefined) conditions.push(`${newest} >= make_timestamp(${start_time})`);
  if (end_time !== undefined) conditions.push(`${oldest} <= make_timestamp(${end_time})`);
  if (after !== undefined) conditions.push(`${oldest} <= make_timestamp(${after.timestamp})`);
  return conditions.join(' AND ');
}
