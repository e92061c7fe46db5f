import { readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { wordAt } from '../../../signal/checked.js';
import { compareWithKey, ENTRY_WORDS, numberAt } from './id-entry.js';
import type { IdKey } from './id-hash.js';
import { blockAt, blockMayHave, blockOf } from './run-filter.js';
import {
  BLOCKS_PER_PAGE,
  CONTENT_WORDS,
  factsOf,
  PAGE_BYTES,
  PAGE_WORDS,
  placesOf,
  usedOf,
  type RunFacts,
  type RunPlaces,
} from './run-pages.js';

/** A file of ids is not as it was written. */
export class DamagedRun extends Error {
  readonly run: RunFile | null;

  constructor(path: string, run: RunFile | null = null) {
    super(`The file ${path} of ids is damaged.`);
    this.run = run;
  }
}

/** Pages of entries as in the file, and the end of the entries of each page. */
export interface Piece {
  readonly words: Uint32Array;
  readonly ends: readonly number[];
}

/** Pages per read when reading many. */
const CHUNK_PAGES = 64;

/** A file of ids: a look-up that passes its filter reads one page. */
export class RunFile {
  readonly path: string;
  readonly facts: RunFacts;
  readonly #file: FileHandle;
  readonly #places: RunPlaces;
  readonly #fences: Uint32Array;
  /** All pages of the filter, where memory has room for them. */
  #filter: Uint32Array | null = null;
  readonly #page = new Uint32Array(PAGE_WORDS);

  private constructor(path: string, file: FileHandle, facts: RunFacts, fences: Uint32Array) {
    this.path = path;
    this.facts = facts;
    this.#file = file;
    this.#places = placesOf(facts);
    this.#fences = fences;
  }

  /** @throws DamagedRun */
  static async open(path: string): Promise<RunFile> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const last = size / PAGE_BYTES - 1;
      if (last < 0 || !Number.isInteger(last)) throw new DamagedRun(path);
      const facts = factsOf(await readPages(file, last, 1), last);
      if (facts === null) throw new DamagedRun(path);
      const { fencesAt, factsAt } = placesOf(facts);
      const pages = await readSound(file, path, fencesAt, factsAt - fencesAt);
      const fences = new Uint32Array(facts.dataPages);
      for (let page = 0; page < factsAt - fencesAt; page++) {
        const from = page * CONTENT_WORDS;
        const count = Math.min(CONTENT_WORDS, facts.dataPages - from);
        fences.set(pages.subarray(page * PAGE_WORDS, page * PAGE_WORDS + count), from);
      }
      return new RunFile(path, file, facts, fences);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Bytes of memory, including the filter if it is loaded. */
  get bytes(): number {
    return this.#fences.byteLength + PAGE_BYTES + (this.#filter?.byteLength ?? 0);
  }

  /** Bytes of memory of the filter when loaded. */
  get filterBytes(): number {
    return this.#places.dataAt * PAGE_BYTES;
  }

  get hasFilter(): boolean {
    return this.#filter !== null;
  }

  /** Loads the filter into memory. @throws DamagedRun */
  async loadFilter(): Promise<void> {
    this.#filter ??= await readSound(this.#file, this.path, 0, this.#places.dataAt, this);
  }

  /** Unloads the filter: lookups then read a page of it from the disk first. */
  dropFilter(): void {
    this.#filter = null;
  }

  /** The number of an id; 0 if not found. @throws DamagedRun */
  find(key: IdKey): number {
    const [first, second] = [wordAt(key, 0), wordAt(key, 1)];
    if (!this.#mayHave(first, second)) return 0;
    for (let page = this.#firstPage(first); page < this.#fences.length; page++) {
      if (wordAt(this.#fences, page) > first) return 0;
      const used = this.#read(this.#places.dataAt + page);
      const at = placeOf(this.#page, used, key);
      if (at < used) return compareWithKey(this.#page, at, key) === 0 ? numberAt(this.#page, at) : 0;
      // All entries of the page sort before the key; it may be on the next page if that starts with the same word.
    }
    return 0;
  }

  /** Reads all entries in order, some pages at a time. @throws DamagedRun */
  async *pieces(): AsyncGenerator<Piece, void> {
    const { dataAt, fencesAt } = this.#places;
    for (let from = dataAt; from < fencesAt; from += CHUNK_PAGES) {
      const count = Math.min(CHUNK_PAGES, fencesAt - from);
      const words = await readPages(this.#file, from, count);
      const ends: number[] = [];
      for (let page = 0; page < count; page++) {
        const used = usedOf(words, page * PAGE_WORDS, from + page);
        if (used === null) throw new DamagedRun(this.path, this);
        ends.push(page * PAGE_WORDS + used);
      }
      yield { words, ends };
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #mayHave(first: number, second: number): boolean {
    const block = blockOf(first, this.facts.filterBlocks);
    if (this.#filter !== null) return blockMayHave(this.#filter, blockAt(block), second);
    const page = Math.floor(block / BLOCKS_PER_PAGE);
    this.#read(page);
    return blockMayHave(this.#page, blockAt(block) - page * PAGE_WORDS, second);
  }

  /** The last page that begins before this word; the first page if none does. */
  #firstPage(first: number): number {
    let low = 0;
    let high = this.#fences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (wordAt(this.#fences, middle) < first) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** Reads a page. @returns how many of its words are in use */
  #read(number: number): number {
    const bytes = new Uint8Array(this.#page.buffer);
    for (let done = 0; done < PAGE_BYTES;) {
      const read = readSync(this.#file.fd, bytes, done, PAGE_BYTES - done, number * PAGE_BYTES + done);
      if (read === 0) throw new DamagedRun(this.path, this);
      done += read;
    }
    const used = usedOf(this.#page, 0, number);
    if (used === null) throw new DamagedRun(this.path, this);
    return used;
  }
}

/** The position of the first entry on a page that does not come before the key; `used` if all do. */
function placeOf(page: Uint32Array, used: number, key: IdKey): number {
  let low = 0;
  let high = used / ENTRY_WORDS;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareWithKey(page, middle * ENTRY_WORDS, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low * ENTRY_WORDS;
}

async function readPages(file: FileHandle, from: number, count: number): Promise<Uint32Array> {
  const words = new Uint32Array(count * PAGE_WORDS);
  const bytes = new Uint8Array(words.buffer);
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, from * PAGE_BYTES + done);
    // What is missing stays zero, which the checksum then shows.
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return words;
}

async function readSound(
  file: FileHandle,
  path: string,
  from: number,
  count: number,
  run: RunFile | null = null,
): Promise<Uint32Array> {
  const words = await readPages(file, from, count);
  for (let page = 0; page < count; page++) {
    if (usedOf(words, page * PAGE_WORDS, from + page) === null) throw new DamagedRun(path, run);
  }
  return words;
}
