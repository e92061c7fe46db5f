import { invariant, shortAt, wordAt } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import type { Connection } from '../files/connection.js';
import { extremesOf } from '../segments/extremes.js';
import type { Capture } from '../segments/segment.js';
import { logBlocks, positionRanges, type LogBlock } from './log-blocks.js';
import type { LogSearch, PlacedFilter } from './log-condition.js';
import { BLOCK_RECORDS } from './compact-logs.js';
import type { KeyList, Wanted } from './page-of-keys.js';
import { FEW_POSITIONS, Positions, type PositionRange } from './positions.js';
import { hashesOf } from './terms.js';

/** How many blocks have their lists read together, and how many entries these lists may have, at two bytes each. */
const BATCH_BLOCKS = 32;
const BATCH_ENTRIES = 2_000_000;
/** How many bytes of positions are kept between counting and showing; beyond that they are worked out again. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** The records that a search finds in one block. The times are those of all the user's records in it, found or not. */
export interface BlockMatches extends KeyList {
  readonly block: number;
  readonly oldest: Micros;
  readonly newest: Micros;
}

/** The matches of a search in the cold file. */
export interface FoundInBlocks {
  /** Blocks with at least one record found, newest first. */
  readonly blocks: readonly BlockMatches[];
  /** The `log_no` of some records, block by block. */
  numbers(wanted: readonly Wanted<BlockMatches>[]): Promise<number[][]>;
}

/** A block that has every term of the search. */
interface Candidate {
  readonly block: LogBlock;
  readonly range: PositionRange;
  /** Hashes of the terms that only some of the user's records in the block have. */
  readonly open: readonly string[];
  /** How many entries their lists have together. */
  readonly entries: number;
  count: number | null;
  positions: Positions | null;
}

/** Finds records of the cold file by the terms of a search. */
export async function findInBlocks(
  connection: Connection,
  capture: Capture,
  tenant: number,
  filter: PlacedFilter,
  search: LogSearch,
): Promise<FoundInBlocks> {
  const blocks = await logBlocks(connection, capture, tenant, filter);
  const reader = new MatchReader(connection, tenant, search.openCondition);
  const candidates = await candidatesOf(connection, capture, tenant, filter, search, blocks);
  await reader.count(candidates);
  const byNumber = new Map(candidates.map((candidate) => [candidate.block.block, candidate]));
  return {
    blocks: candidates.flatMap((candidate): BlockMatches[] => {
      const { block, oldest, newest } = candidate.block;
      return candidate.count ? [{ block, oldest, newest, count: candidate.count }] : [];
    }),
    numbers: async (wanted) =>
      await reader.numbers(
        wanted.map(({ list, places }) => ({
          candidate: invariant(byNumber.get(list.block), 'block'),
          places,
        })),
      ),
  };
}

async function candidatesOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  filter: PlacedFilter,
  { terms, openCondition }: LogSearch,
  blocks: readonly LogBlock[],
): Promise<Candidate[]> {
  if (blocks.length === 0) return [];
  const hashes = terms.length === 0 ? [] : [...new Set(await hashesOf(connection, tenant, terms))];
  const records = await recordsWith(connection, capture, hashes, blocks);
  const having = blocks.filter(({ block }) => hashes.every((hash) => records.get(block)?.has(hash)));
  const ranges = await positionRanges(connection, tenant, having, filter);
  return having.flatMap((block): Candidate[] => {
    const range = ranges.get(block.block);
    if (range === undefined) return [];
    const counts = records.get(block.block) ?? new Map<string, number>();
    const open = hashes.filter((hash) => counts.get(hash) !== block.records);
    const entries = open.reduce((sum, hash) => sum + invariant(counts.get(hash), 'count of a term'), 0);
    const inRange = range.last - range.first + 1;
    let count: number | null = null;
    if (openCondition === null && open.length === 0) count = inRange;
    else if (openCondition === null && open.length === 1 && inRange === block.records) count = entries;
    const isRange = openCondition === null && open.length === 0;
    return [{ block, range, open, entries, count, positions: isRange ? Positions.within(range) : null }];
  });
}

/** By block and hash: how many records have the term. */
export async function recordsWith(
  connection: Connection,
  { bound }: Capture,
  hashes: readonly string[],
  blocks: readonly LogBlock[],
): Promise<Map<number, Map<string, number>>> {
  const found = new Map<number, Map<string, number>>();
  if (hashes.length === 0) return found;
  const { least, most } = extremesOf(blocks.map(({ block }) => block));
  const rows = await connection.rows(
    `SELECT block, hash::VARCHAR AS hash, records FROM cold.main.log_terms
      WHERE seq <= ${bound} AND block BETWEEN ${least} AND ${most} AND ${isOneOf('hash', hashes)}`,
  );
  for (const row of rows) {
    const block = Number(row.block);
    const counts = found.get(block) ?? new Map<string, number>();
    counts.set(String(row.hash), Number(row.records));
    found.set(block, counts);
  }
  return found;
}

/** Finds the matching records of blocks: in every open list, within the range, and true for the open condition. */
class MatchReader {
  readonly #connection: Connection;
  readonly #tenant: number;
  readonly #openCondition: string | null;
  #keptBytes = 0;

  constructor(connection: Connection, tenant: number, openCondition: string | null) {
    this.#connection = connection;
    this.#tenant = tenant;
    this.#openCondition = openCondition;
  }

  /** Fills in the missing counts. */
  async count(candidates: readonly Candidate[]): Promise<void> {
    for (const batch of batchesOf(candidates.filter(({ count }) => count === null))) await this.#read(batch);
  }

  /**
   * @param wanted places counted from the last record found, ascending
   * @returns the `log_no` of each
   */
  async numbers(
    wanted: readonly { readonly candidate: Candidate; readonly places: readonly number[] }[],
  ): Promise<number[][]> {
    const found = new Map<Candidate, number[]>();
    const placesOf = new Map(wanted.map(({ candidate, places }) => [candidate, places]));
    const look = (candidate: Candidate, positions: Positions): void => {
      const base = candidate.block.block * BLOCK_RECORDS;
      const places = positions.fromEnd(invariant(placesOf.get(candidate), 'list of places'));
      found.set(
        candidate,
        places.map((position) => base + position),
      );
    };
    for (const candidate of placesOf.keys())
      if (candidate.positions !== null) look(candidate, candidate.positions);
    const missing = [...placesOf.keys()].filter((candidate) => !found.has(candidate));
    for (const batch of batchesOf(missing)) {
      for (const [candidate, positions] of await this.#read(batch)) look(candidate, positions);
    }
    return wanted.map(({ candidate }) => invariant(found.get(candidate), 'list of records'));
  }

  /** Computes the positions in some blocks, and caches them while there is space. */
  async #read(batch: readonly Candidate[]): Promise<Map<Candidate, Positions>> {
    const lists = await this.#readLists(batch.filter(({ open }) => open.length > 0));
    const found = new Map<Candidate, Positions>();
    for (const candidate of batch) {
      const inLists =
        lists.get(candidate.block.block)?.within(candidate.range) ?? everything(candidate.range);
      const positions = Positions.of(await this.#withOpen(candidate, inLists));
      found.set(candidate, positions);
      candidate.count = positions.count;
      if (this.#keptBytes + positions.bytes > KEPT_BYTES) continue;
      candidate.positions = positions;
      this.#keptBytes += positions.bytes;
    }
    return found;
  }

  async #readLists(batch: readonly Candidate[]): Promise<Map<number, Intersection>> {
    const found = new Map<number, Intersection>();
    if (batch.length === 0) return found;
    const hashes = [...new Set(batch.flatMap(({ open }) => open))];
    const blocks = batch.map(({ block }) => block.block);
    const sql = `SELECT block, positions FROM cold.main.log_terms WHERE ${isOneOf('block', blocks)} AND ${isOneOf('hash', hashes)}`;
    for await (const chunk of this.#connection.wholeChunks(sql)) {
      const numbers = chunk.words(0, 4);
      const places = chunk.words(1, 16);
      const entries = chunk.listEntries(1, 2);
      const all = new Uint16Array(entries.buffer, entries.byteOffset, entries.byteLength >> 1);
      for (let row = 0; row < chunk.rows; row++) {
        const block = wordAt(numbers, row);
        // Offset and length, 64 bits each.
        const start = wordAt(places, row * 4);
        const length = wordAt(places, row * 4 + 2);
        const intersection = found.get(block) ?? new Intersection();
        intersection.add(all.subarray(start, start + length));
        found.set(block, intersection);
      }
    }
    return found;
  }

  async #withOpen({ block }: Candidate, positions: Uint16Array): Promise<Uint16Array> {
    const [first, last] = [positions.at(0), positions.at(-1)];
    if (this.#openCondition === null || first === undefined || last === undefined) return positions;
    const base = block.block * BLOCK_RECORDS;
    const few =
      positions.length <= FEW_POSITIONS
        ? ` AND log_no IN (${Array.from(positions, (position) => base + position).join(', ')})`
        : '';
    const sql = `SELECT (log_no & 65535)::UINTEGER FROM cold.main.logs WHERE tenant = ${this.#tenant} AND log_no BETWEEN ${base + first} AND ${base + last}${few} AND ${this.#openCondition}`;
    const having = new Intersection();
    having.add(positions);
    for await (const chunk of this.#connection.wholeChunks(sql)) {
      having.add(chunk.words(0, 4), { isPart: true });
    }
    return having.within({ first, last }, 2);
  }
}

/** Splits candidates into batches, because the data read for a batch is held in memory. */
export function* batchesOf<InBlock extends { readonly entries: number }>(
  candidates: readonly InBlock[],
): Generator<readonly InBlock[]> {
  let batch: InBlock[] = [];
  let entries = 0;
  for (const candidate of candidates) {
    const isFull = batch.length === BATCH_BLOCKS || entries + candidate.entries > BATCH_ENTRIES;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      entries = 0;
    }
    batch.push(candidate);
    entries += candidate.entries;
  }
  if (batch.length > 0) yield batch;
}

/** The positions that several lists have in common. */
class Intersection {
  /** For each position, how many lists have it. */
  readonly #counts = new Uint16Array(BLOCK_RECORDS);
  #lists = 0;

  /** @param isPart whether this is only a part of a list, and does not count as one yet */
  add(list: Uint16Array | Uint32Array, { isPart = false } = {}): void {
    const counts = this.#counts;
    for (const position of list) counts[position] = shortAt(counts, position) + 1;
    if (!isPart) this.#lists++;
  }

  within({ first, last }: PositionRange, lists = this.#lists): Uint16Array {
    const counts = this.#counts;
    let length = 0;
    for (let position = first; position <= last; position++) if (counts[position] === lists) length++;
    const positions = new Uint16Array(length);
    for (let position = last; length > 0; position--) {
      if (counts[position] === lists) positions[--length] = position;
    }
    return positions;
  }
}

function everything({ first, last }: PositionRange): Uint16Array {
  return Uint16Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** A condition by which row groups are pruned. */
export function isOneOf(column: string, values: readonly (string | number)[]): string {
  return `${column} IN (${values.join(', ')})`;
}
