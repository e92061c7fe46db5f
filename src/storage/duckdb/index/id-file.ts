import { readSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncDirectory } from '../../../config/sync-directory.js';
import { wordAt } from '../../../signal/checked.js';
import type { CommitRange } from '../files/id-files.js';
import { compareEntries, ENTRY_WORDS, numberAt, type IdKey } from './id-entry.js';

/*
 * A file of ids consists of pages: its filter, its entries, the first word of each page of entries ("fences"), and the facts. The
 * last three words of a page are how many words are used, the page's number, which shows a page written to another place, and the
 * checksum of all words before.
 */
export const PAGE_BYTES = 4096;
const PAGE_WORDS = PAGE_BYTES / 4;
const SUM_AT = PAGE_WORDS - 1;
const NUMBER_AT = PAGE_WORDS - 2;
const USED_AT = PAGE_WORDS - 3;
const CONTENT_WORDS = PAGE_WORDS - 4;
/** Pages per read or write of many. */
const CHUNK_PAGES = 64;

/** Identifies a file of ids, and its format. */
const MAGIC = 0x4a64_4931;
const WORD = 0x1_0000_0000;

/*
 * The filter is a split block Bloom filter as in Apache Parquet (BloomFilter.md of parquet-format), with 12 bits an id: it lets
 * about one in 150 absent ids through. Other than in Parquet, an id's block follows from the first bits of its hash, by which the
 * file is sorted: so the blocks are finished one after the other while a file is written.
 */
const BITS_PER_ENTRY = 12;
const BLOCK_WORDS = 8;
const BLOCKS_PER_PAGE = Math.floor(CONTENT_WORDS / BLOCK_WORDS);
// prettier-ignore
const SALTS = Uint32Array.of(
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
);

/** Properties of a file that are fixed before its entries are written. */
interface IdFilePlan extends CommitRange {
  /** The key with which its ids are hashed. */
  readonly hashKey: Uint32Array;
  /** The store to which it belongs. */
  readonly store: number;
}

/** The content of the last page of a file. */
interface IdFileFacts extends IdFilePlan {
  readonly entries: number;
  readonly dataPages: number;
  readonly filterBlocks: number;
}

/** Sorted entries. */
interface IdSource {
  /** The number of entries; may be too high. */
  readonly size: number;
  /** The entries in order, some at a time. */
  pages(): AsyncIterator<Uint32Array, unknown> | Iterator<Uint32Array, unknown>;
}

/** A file of ids is not as it was written. */
export class DamagedIds extends Error {
  /** Null if the file could not be opened. */
  readonly file: IdFile | null;

  constructor(path: string, file: IdFile | null = null) {
    super(`The file ${path} of ids is damaged.`);
    this.file = file;
  }
}

/** A complete file of ids and their numbers: a look-up that passes its filter reads one page. */
export class IdFile implements IdSource {
  readonly path: string;
  readonly facts: IdFileFacts;
  /** A part of it could not be read. */
  isDamaged = false;
  readonly #file: FileHandle;
  readonly #dataAt: number;
  readonly #fences: Uint32Array;
  /** All pages of the filter, if they are in memory. */
  #filter: Uint32Array | null = null;
  readonly #page = new Uint32Array(PAGE_WORDS);

  private constructor(path: string, file: FileHandle, facts: IdFileFacts, fences: Uint32Array) {
    this.path = path;
    this.facts = facts;
    this.#file = file;
    this.#dataAt = placesOf(facts).dataAt;
    this.#fences = fences;
  }

  /** @throws DamagedIds */
  static async open(path: string): Promise<IdFile> {
    const file = await open(path, 'r');
    try {
      const last = (await file.stat()).size / PAGE_BYTES - 1;
      const page = Number.isInteger(last) && last >= 0 ? await readPages(file, last, 1) : null;
      const facts = page && factsOf(page, last);
      if (facts === null) throw new DamagedIds(path);
      const { fencesAt } = placesOf(facts);
      const pages = await readPages(file, fencesAt, last - fencesAt);
      if (pages === null) throw new DamagedIds(path);
      const fences = new Uint32Array(facts.dataPages);
      for (let i = 0; i < fences.length; i++) {
        fences[i] = wordAt(pages, Math.floor(i / CONTENT_WORDS) * PAGE_WORDS + (i % CONTENT_WORDS));
      }
      return new IdFile(path, file, facts, fences);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get size(): number {
    return this.facts.entries;
  }

  /** Bytes of memory, including the filter if it is loaded. */
  get bytes(): number {
    return this.#fences.byteLength + PAGE_BYTES + (this.#filter?.byteLength ?? 0);
  }

  /** Bytes of memory of the filter when loaded. */
  get filterBytes(): number {
    return this.#dataAt * PAGE_BYTES;
  }

  /** Loads the filter into memory, or drops it: look-ups then read a page of it from the disk first. @throws DamagedIds */
  async keepFilter(isKept: boolean): Promise<void> {
    if (isKept) this.#filter ??= await this.#readPages(0, this.#dataAt);
    else this.#filter = null;
  }

  /** The number of an id; 0 if not found. @throws DamagedIds */
  find(key: IdKey): number {
    const first = wordAt(key, 0);
    if (!this.#mayHave(first, wordAt(key, 1))) return 0;
    for (let page = this.#firstPage(first); page < this.#fences.length; page++) {
      if (wordAt(this.#fences, page) > first) return 0;
      const used = this.#readPage(this.#dataAt + page);
      const at = placeIn(this.#page, used, key);
      if (at < used) return compareEntries(this.#page, at, key, 0) === 0 ? numberAt(this.#page, at) : 0;
      // All entries of the page sort before the key; it may be on the next page if that starts with the same word.
    }
    return 0;
  }

  /** @throws DamagedIds */
  async *pages(): AsyncGenerator<Uint32Array, void> {
    const end = this.#dataAt + this.facts.dataPages;
    for (let from = this.#dataAt; from < end; from += CHUNK_PAGES) {
      const words = await this.#readPages(from, Math.min(CHUNK_PAGES, end - from));
      for (let at = 0; at < words.length; at += PAGE_WORDS)
        yield words.subarray(at, at + wordAt(words, at + USED_AT));
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #mayHave(first: number, second: number): boolean {
    const at = filterPlace(first, this.facts.filterBlocks);
    if (this.#filter !== null) return mayHave(this.#filter, at, second);
    this.#readPage(Math.floor(at / PAGE_WORDS));
    return mayHave(this.#page, at % PAGE_WORDS, second);
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
  #readPage(number: number): number {
    const bytes = new Uint8Array(this.#page.buffer);
    for (let done = 0; done < PAGE_BYTES;) {
      const read = readSync(this.#file.fd, bytes, done, PAGE_BYTES - done, number * PAGE_BYTES + done);
      if (read === 0) throw this.#damaged();
      done += read;
    }
    if (!isSound(this.#page, 0, number)) throw this.#damaged();
    return wordAt(this.#page, USED_AT);
  }

  async #readPages(from: number, count: number): Promise<Uint32Array> {
    const words = await readPages(this.#file, from, count).catch(() => null);
    if (words === null) throw this.#damaged();
    return words;
  }

  #damaged(): DamagedIds {
    this.isDamaged = true;
    return new DamagedIds(this.path, this);
  }
}

/**
 * Writes a file with the entries of some sources; an id that is in several gets the number of the newest. It gets its name only
 * when all of it is on the disk. Meanwhile it needs a few hundred kilobytes of memory, and 4 bytes for every 255 entries.
 *
 * @param sources oldest first
 * @param pause called every few milliseconds; may throw, to give up
 * @throws DamagedIds
 */
export async function writeIdFile(
  path: string,
  plan: IdFilePlan,
  sources: readonly IdSource[],
  pause: () => Promise<void>,
): Promise<IdFile> {
  const unfinished = `${path}.tmp`;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      const writer = new Writer(
        file,
        sources.reduce((sum, { size }) => sum + size, 0),
      );
      await merge(sources, writer, pause);
      await writer.end(plan);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
  return await IdFile.open(path);
}

/** Adds the entries of several sources to a file, in order. */
async function merge(
  sources: readonly IdSource[],
  writer: Writer,
  pause: () => Promise<void>,
): Promise<void> {
  let open: Cursor[] = [];
  // The newest first: among equal entries the first one found is written.
  for (const source of [...sources].reverse()) {
    const cursor = new Cursor(source);
    if (await cursor.turn()) open.push(cursor);
  }
  for (let least = leastOf(open); least !== undefined; least = leastOf(open)) {
    const { words, at } = least;
    writer.add(words, at);
    let hasEnded = false;
    for (const cursor of open) {
      if (cursor !== least && compareEntries(cursor.words, cursor.at, words, at) !== 0) continue;
      cursor.at += ENTRY_WORDS;
      if (cursor.at >= cursor.words.length && !(await cursor.turn())) hasEnded = true;
    }
    if (hasEnded) open = open.filter((cursor) => cursor.words.length > 0);
    if (writer.isFull) {
      await writer.write();
      await pause();
    }
  }
}

/** The first among equal ones. */
function leastOf(cursors: readonly Cursor[]): Cursor | undefined {
  let [least] = cursors;
  for (const cursor of cursors) {
    if (least !== undefined && compareEntries(cursor.words, cursor.at, least.words, least.at) < 0)
      least = cursor;
  }
  return least;
}

/** A place among the entries of a source. */
class Cursor {
  words: Uint32Array = new Uint32Array(0);
  at = 0;
  readonly #pages: ReturnType<IdSource['pages']>;

  constructor(source: IdSource) {
    this.#pages = source.pages();
  }

  /** Goes to the next page. @returns false at the end */
  async turn(): Promise<boolean> {
    const page = await this.#pages.next();
    this.words = page.done === true ? new Uint32Array(0) : page.value;
    this.at = 0;
    return this.words.length > 0;
  }
}

/** Writes the pages of a file, from entries in order. */
class Writer {
  readonly #file: FileHandle;
  readonly #filterBlocks: number;
  readonly #filter = new Pages(0);
  readonly #data: Pages;
  #entries = 0;
  /** The first word of the first entry of each page. */
  readonly #fences: number[] = [];

  /** @param mostEntries as many as will be added, or more */
  constructor(file: FileHandle, mostEntries: number) {
    this.#file = file;
    this.#filterBlocks = Math.max(1, Math.ceil((mostEntries * BITS_PER_ENTRY) / (BLOCK_WORDS * 32)));
    this.#data = new Pages(placesOf({ dataPages: 0, filterBlocks: this.#filterBlocks }).dataAt);
  }

  /** Whether {@link write} should be called before more is added. */
  get isFull(): boolean {
    return this.#data.complete >= CHUNK_PAGES;
  }

  /** Adds the entry at a place, which comes after those added before. */
  add(words: Uint32Array, at: number): void {
    const first = wordAt(words, at);
    const data = this.#data;
    if (data.used === 0) this.#fences.push(first);
    for (let i = 0; i < ENTRY_WORDS; i++) data.page[data.used++] = wordAt(words, at + i);
    if (data.used === CONTENT_WORDS) data.turn();
    const place = filterPlace(first, this.#filterBlocks);
    this.#fillFilter(Math.floor(place / PAGE_WORDS));
    addToBlock(this.#filter.page, place % PAGE_WORDS, wordAt(words, at + 1));
    this.#entries++;
  }

  /** Writes the pages that are complete. */
  async write(): Promise<void> {
    await this.#filter.write(this.#file);
    await this.#data.write(this.#file);
  }

  async end(plan: IdFilePlan): Promise<void> {
    const data = this.#data;
    if (data.used > 0) data.turn();
    const facts = {
      ...plan,
      entries: this.#entries,
      dataPages: this.#fences.length,
      filterBlocks: this.#filterBlocks,
    };
    this.#fillFilter(placesOf(facts).dataAt);
    for (const fence of this.#fences) {
      data.page[data.used++] = fence;
      if (data.used === CONTENT_WORDS) data.turn();
    }
    if (data.used > 0) data.turn();
    putFacts(data, facts);
    data.turn();
    await this.write();
  }

  /** Completes the pages of the filter before this one. */
  #fillFilter(page: number): void {
    while (this.#filter.number < page) {
      this.#filter.used = CONTENT_WORDS;
      this.#filter.turn();
    }
  }
}

/** Consecutive pages of a file, to be filled one after the other. */
class Pages {
  /** The page to fill, how much of it is used, and its number. */
  page = new Uint32Array(PAGE_WORDS);
  used = 0;
  number: number;
  #complete: Uint32Array[] = [];

  /** @param number of the first page */
  constructor(number: number) {
    this.number = number;
  }

  /** How many pages can be written. */
  get complete(): number {
    return this.#complete.length;
  }

  /** Completes the page. */
  turn(): void {
    this.page[USED_AT] = this.used;
    this.page[NUMBER_AT] = this.number;
    this.page[SUM_AT] = sumOf(this.page, 0);
    this.#complete.push(this.page);
    this.page = new Uint32Array(PAGE_WORDS);
    this.used = 0;
    this.number++;
  }

  async write(file: FileHandle): Promise<void> {
    const bytes = Buffer.concat(this.#complete.map(({ buffer }) => new Uint8Array(buffer)));
    const at = (this.number - this.#complete.length) * PAGE_BYTES;
    this.#complete = [];
    for (let done = 0; done < bytes.length;) {
      done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
    }
  }
}

/** Where the entries, the fences and the facts begin, in pages. */
function placesOf({ dataPages, filterBlocks }: Pick<IdFileFacts, 'dataPages' | 'filterBlocks'>) {
  const dataAt = Math.ceil(filterBlocks / BLOCKS_PER_PAGE);
  const fencesAt = dataAt + dataPages;
  return { dataAt, fencesAt, factsAt: fencesAt + Math.ceil(dataPages / CONTENT_WORDS) };
}

function putFacts(to: Pages, facts: IdFileFacts): void {
  const numbers = [facts.after, facts.upTo, facts.entries, facts.dataPages, facts.filterBlocks, facts.store];
  const words = [MAGIC, ...facts.hashKey, ...numbers.flatMap((n) => [n % WORD, Math.floor(n / WORD)])];
  to.page.set(words);
  to.used = words.length;
}

/** Null if this is not the last page of a file of ids. */
function factsOf(page: Uint32Array, number: number): IdFileFacts | null {
  const numberOf = (i: number): number => wordAt(page, 3 + i * 2) + wordAt(page, 4 + i * 2) * WORD;
  const facts = {
    hashKey: page.slice(1, 3),
    after: numberOf(0),
    upTo: numberOf(1),
    entries: numberOf(2),
    dataPages: numberOf(3),
    filterBlocks: numberOf(4),
    store: numberOf(5),
  };
  return page[0] === MAGIC && placesOf(facts).factsAt === number ? facts : null;
}

/** The position of the first entry on a page that does not come before the key; `used` if all do. */
function placeIn(page: Uint32Array, used: number, key: IdKey): number {
  let low = 0;
  let high = used / ENTRY_WORDS;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareEntries(page, middle * ENTRY_WORDS, key, 0) < 0) low = middle + 1;
    else high = middle;
  }
  return low * ENTRY_WORDS;
}

/** The position of an id's block in the pages of a filter, given the first word of its hash. */
function filterPlace(first: number, blocks: number): number {
  const block = Math.floor((first / WORD) * blocks);
  return Math.floor(block / BLOCKS_PER_PAGE) * PAGE_WORDS + (block % BLOCKS_PER_PAGE) * BLOCK_WORDS;
}

/** Whether a block may have an id, given the second word of its hash. */
function mayHave(words: Uint32Array, at: number, second: number): boolean {
  for (let i = 0; i < BLOCK_WORDS; i++) {
    if ((wordAt(words, at + i) & maskOf(second, i)) === 0) return false;
  }
  return true;
}

function addToBlock(words: Uint32Array, at: number, second: number): void {
  for (let i = 0; i < BLOCK_WORDS; i++) words[at + i] = wordAt(words, at + i) | maskOf(second, i);
}

function maskOf(second: number, word: number): number {
  return 1 << (Math.imul(second, wordAt(SALTS, word)) >>> 27);
}

/** Some pages of a file; null if one of them is damaged. */
async function readPages(file: FileHandle, from: number, count: number): Promise<Uint32Array | null> {
  const words = new Uint32Array(count * PAGE_WORDS);
  const bytes = new Uint8Array(words.buffer);
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, from * PAGE_BYTES + done);
    if (bytesRead === 0) return null;
    done += bytesRead;
  }
  for (let page = 0; page < count; page++) if (!isSound(words, page * PAGE_WORDS, from + page)) return null;
  return words;
}

/** Whether a page is as it was written. @param at its first word */
function isSound(words: Uint32Array, at: number, number: number): boolean {
  return words[at + SUM_AT] === sumOf(words, at) && words[at + NUMBER_AT] === number;
}

function sumOf(words: Uint32Array, at: number): number {
  return crc32(new Uint8Array(words.buffer, words.byteOffset + at * 4, PAGE_BYTES - 4));
}
