import type { Micros } from '../../../signal/time.js';
import type { LogFilter } from '../../telemetry-store.js';
import type { Connection } from '../database.js';
import { extremesOf } from '../extremes.js';
import type { Capture } from '../segments.js';
import { logBlocks, positionRanges, type LogBlock, type PositionRange } from './log-blocks.js';
import type { LogSearch } from './log-condition.js';
import { BLOCK_RECORDS } from './move-logs.js';
import { hashesOf } from './terms.js';

/** Blocks whose lists are read together, and entries of those lists, of two bytes each. */
const BATCH_BLOCKS = 32;
const BATCH_ENTRIES = 2_000_000;
/** Positions kept between counting and showing; beyond them they are worked out again. */
const KEPT_POSITIONS = 4_000_000;
/** So many positions are asked for one by one; of more the whole range is looked at. */
export const FEW_POSITIONS = 1000;

/** The records that a search finds in one block. */
export interface BlockMatches {
  readonly block: number;
  /** Of the tenant's records in the block, whether they are found or not. */
  readonly oldest: Micros;
  readonly newest: Micros;
  readonly count: number;
}

/** What a search finds in the cold file. */
export interface FoundInBlocks {
  /** Blocks with at least one record that is found, newest first. */
  readonly blocks: readonly BlockMatches[];
  /** Where in each of some blocks the found records lie, ascending, which is the order of time, then id. */
  positions(blocks: readonly BlockMatches[]): Promise<Uint16Array[]>;
}

/** A block that has every term of the search. */
interface Candidate {
  readonly block: LogBlock;
  readonly range: PositionRange;
  /** Hashes of the terms that not all of the tenant's records in the block have. */
  readonly open: readonly string[];
  /** Entries of their lists. */
  readonly entries: number;
  count: number | null;
  positions: Uint16Array | null;
}

/** Finds records of the cold file by the terms of a search. */
export async function findInBlocks(
  connection: Connection,
  capture: Capture,
  tenant: number,
  filter: LogFilter,
  search: LogSearch,
): Promise<FoundInBlocks> {
  const blocks = await logBlocks(connection, capture, tenant, filter);
  const reader = new MatchReader(connection, tenant, search.phraseCondition);
  const candidates = await candidatesOf(connection, capture, tenant, filter, search, blocks);
  await reader.count(candidates);
  const byNumber = new Map(candidates.map((candidate) => [candidate.block.block, candidate]));
  return {
    blocks: candidates.flatMap((candidate): BlockMatches[] => {
      const { block, oldest, newest } = candidate.block;
      return candidate.count ? [{ block, oldest, newest, count: candidate.count }] : [];
    }),
    positions: async (wanted) =>
      await reader.positions(wanted.flatMap(({ block }) => byNumber.get(block) ?? [])),
  };
}

async function candidatesOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  filter: LogFilter,
  { terms, phraseCondition }: LogSearch,
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
    const entries = open.reduce((sum, hash) => sum + (counts.get(hash) ?? 0), 0);
    const inRange = range.last - range.first + 1;
    let count: number | null = null;
    if (phraseCondition === null && open.length === 0) count = inRange;
    else if (phraseCondition === null && open.length === 1 && inRange === block.records) count = entries;
    return [{ block, range, open, entries, count, positions: null }];
  });
}

/** By block and hash: how many records have the term. */
async function recordsWith(
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

/** Works out which records of blocks are found: those in every open list, within the range, that have the phrases. */
class MatchReader {
  readonly #connection: Connection;
  readonly #tenant: number;
  readonly #phraseCondition: string | null;
  #kept = 0;

  constructor(connection: Connection, tenant: number, phraseCondition: string | null) {
    this.#connection = connection;
    this.#tenant = tenant;
    this.#phraseCondition = phraseCondition;
  }

  /** Fills the counts that are not known yet. */
  async count(candidates: readonly Candidate[]): Promise<void> {
    let batch: Candidate[] = [];
    let entries = 0;
    for (const candidate of candidates) {
      if (candidate.count !== null) continue;
      if (
        batch.length === BATCH_BLOCKS ||
        (batch.length > 0 && entries + candidate.entries > BATCH_ENTRIES)
      ) {
        await this.#countBatch(batch);
        batch = [];
        entries = 0;
      }
      batch.push(candidate);
      entries += candidate.entries;
    }
    if (batch.length > 0) await this.#countBatch(batch);
  }

  async positions(candidates: readonly Candidate[]): Promise<Uint16Array[]> {
    const missing = candidates.filter(({ positions }) => positions === null);
    const found = missing.length === 0 ? null : await this.#read(missing);
    return candidates.map((candidate) => candidate.positions ?? found?.get(candidate) ?? new Uint16Array(0));
  }

  async #countBatch(batch: readonly Candidate[]): Promise<void> {
    for (const [candidate, positions] of await this.#read(batch)) {
      candidate.count = positions.length;
      if (this.#kept + positions.length > KEPT_POSITIONS) continue;
      candidate.positions = positions;
      this.#kept += positions.length;
    }
  }

  async #read(batch: readonly Candidate[]): Promise<Map<Candidate, Uint16Array>> {
    const lists = await this.#readLists(batch.filter(({ open }) => open.length > 0));
    const found = new Map<Candidate, Uint16Array>();
    for (const candidate of batch) {
      const inLists =
        lists.get(candidate.block.block)?.within(candidate.range) ?? everything(candidate.range);
      found.set(candidate, await this.#withPhrases(candidate, inLists));
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
        const block = numbers[row] ?? 0;
        // Offset and length, of 64 bits each.
        const start = places[row * 4] ?? 0;
        const length = places[row * 4 + 2] ?? 0;
        const intersection = found.get(block) ?? new Intersection();
        intersection.add(all.subarray(start, start + length));
        found.set(block, intersection);
      }
    }
    return found;
  }

  async #withPhrases({ block }: Candidate, positions: Uint16Array): Promise<Uint16Array> {
    const [first, last] = [positions.at(0), positions.at(-1)];
    if (this.#phraseCondition === null || first === undefined || last === undefined) return positions;
    const base = block.block * BLOCK_RECORDS;
    const few =
      positions.length <= FEW_POSITIONS
        ? ` AND log_no IN (${Array.from(positions, (position) => base + position).join(', ')})`
        : '';
    const sql = `SELECT (log_no & 65535)::UINTEGER FROM cold.main.logs WHERE tenant = ${this.#tenant} AND log_no BETWEEN ${base + first} AND ${base + last}${few} AND ${this.#phraseCondition}`;
    const having = new Intersection();
    having.add(positions);
    for await (const chunk of this.#connection.wholeChunks(sql)) {
      having.add(chunk.words(0, 4), { isPart: true });
    }
    return having.within({ first, last }, 2);
  }
}

/** What is in all of some lists of positions. */
class Intersection {
  /** In how many lists each position is. */
  readonly #counts = new Uint16Array(BLOCK_RECORDS);
  #lists = 0;

  /** @param isPart of a list that comes in parts and is not counted here */
  add(list: ArrayLike<number>, { isPart = false } = {}): void {
    const counts = this.#counts;
    for (let i = 0; i < list.length; i++) {
      const position = list[i] ?? 0;
      counts[position] = (counts[position] ?? 0) + 1;
    }
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

/** A condition that prunes row groups. */
function isOneOf(column: string, values: readonly (string | number)[]): string {
  return `${column} IN (${values.join(', ')})`;
}
