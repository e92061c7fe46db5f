import { LOGS } from '../../tables.js';
import { formatUuid } from '../../../worker/uuid-words.js';
import { int64At, type Connection, type FixedChunk } from '../database.js';
import { extremesOf } from '../extremes.js';
import { hotPartsOf } from '../relation.js';
import type { Capture } from '../segments.js';
import { FEW_POSITIONS, type BlockMatches, type FoundInBlocks } from './block-matches.js';
import type { LogSearch } from './log-condition.js';
import { BLOCK_RECORDS } from './move-logs.js';

/** What a record is ordered and found by, and how much there is of it. */
export interface LogKey {
  readonly id: string;
  /** In microseconds. */
  readonly timestamp: number;
  readonly bytes: number;
  /** Its number in the cold file; 0 while it was found in a hot segment. */
  readonly log_no: number;
}

/** The columns of a key, for {@link readKeys}. */
const KEY_COLUMNS = 'id, epoch_us(timestamp) AS time, bytes, log_no';

/** What a search finds in the hot segments, which are looked through: how many, and the first ones of them. */
export async function findInHot(
  connection: Connection,
  capture: Capture,
  { condition }: LogSearch,
  limit: number,
): Promise<{ readonly count: number; readonly keys: LogKey[] }> {
  const parts = hotPartsOf(capture, LOGS, condition.sql);
  if (parts.length === 0) return { count: 0, keys: [] };
  const sql = `SELECT ${KEY_COLUMNS}, (count(*) OVER ())::UINTEGER AS found FROM (${parts.join(' UNION ALL ')}) ORDER BY timestamp DESC, id DESC LIMIT ${limit}`;
  let count = 0;
  const keys: LogKey[] = [];
  for await (const chunk of connection.wholeChunks(sql, condition.values)) {
    count = chunk.words(4, 4)[0] ?? 0;
    readKeys(chunk, keys, null);
  }
  return { count, keys };
}

/** The page's keys among what was found: newest first by time, then id. */
export async function pageOfKeys(
  connection: Connection,
  hot: readonly LogKey[],
  cold: FoundInBlocks,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<LogKey[]> {
  const { blocks } = cold;
  let skip = offset;
  let newest: LogKey[] = [...hot];
  let at = 0;
  for (let block = blocks[at]; block !== undefined; block = blocks[at]) {
    const last = newest[skip + limit - 1];
    if (last !== undefined && last.timestamp > block.newest) break;
    // Whole blocks before the page need not be looked at, where no other block reaches into their time.
    if (newest.length === 0 && block.count <= skip && block.oldest > newestOf(blocks[at + 1])) {
      skip -= block.count;
      at++;
      continue;
    }
    const group = blocksTogether(blocks, at, skip + limit);
    at += group.length;
    const found = await keysOf(connection, group, await cold.positions(group), skip + limit);
    newest = [...newest, ...found].sort(newestFirst).slice(0, skip + limit);
    const oldest = newest.at(-1);
    if (newest.length <= skip && oldest !== undefined && oldest.timestamp > newestOf(blocks[at])) {
      skip -= newest.length;
      newest = [];
    }
  }
  return newest.slice(skip, skip + limit);
}

function newestOf(block: BlockMatches | undefined): number {
  return block?.newest ?? -Infinity;
}

/** Blocks to be looked at by one statement: the next one, and more where few records are found in each. */
function blocksTogether(blocks: readonly BlockMatches[], at: number, wanted: number): BlockMatches[] {
  let records = 0;
  const end = blocks.findIndex((block, i) => {
    if (i < at) return false;
    const isEnough = i > at && (records >= wanted || records + block.count > FEW_POSITIONS);
    records += block.count;
    return isEnough;
  });
  return blocks.slice(at, end < 0 ? blocks.length : end);
}

/** The keys of the last records found in each of some blocks. */
async function keysOf(
  connection: Connection,
  blocks: readonly BlockMatches[],
  positions: readonly Uint16Array[],
  limit: number,
): Promise<LogKey[]> {
  const numbers = blocks.flatMap(({ block }, i) =>
    Array.from(positions[i]?.slice(-limit) ?? [], (position) => block * BLOCK_RECORDS + position),
  );
  if (numbers.length === 0) return [];
  const { least, most } = extremesOf(numbers);
  const few = numbers.length <= FEW_POSITIONS ? ` AND log_no IN (${numbers.join(', ')})` : '';
  const wanted = new Set(numbers);
  const keys: LogKey[] = [];
  const sql = `SELECT ${KEY_COLUMNS} FROM cold.main.logs WHERE log_no BETWEEN ${least} AND ${most}${few}`;
  for await (const chunk of connection.wholeChunks(sql)) readKeys(chunk, keys, wanted);
  return keys;
}

/** Adds the keys of a chunk whose first columns are {@link KEY_COLUMNS}. @param wanted `log_no` of those to add; null: all */
function readKeys(chunk: FixedChunk, keys: LogKey[], wanted: ReadonlySet<number> | null): void {
  const ids = chunk.words(0, 16);
  const times = chunk.words(1, 8);
  const bytes = chunk.words(2, 4);
  const numbers = chunk.words(3, 8);
  for (let row = 0; row < chunk.rows; row++) {
    const log_no = int64At(numbers, row);
    if (wanted?.has(log_no) === false) continue;
    keys.push({
      id: formatUuid(ids, row * 4),
      timestamp: int64At(times, row),
      bytes: bytes[row] ?? 0,
      log_no,
    });
  }
}

function newestFirst(a: LogKey, b: LogKey): number {
  return b.timestamp - a.timestamp || (a.id < b.id ? 1 : -1);
}
