import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../../../config/sync-directory.js';
import { wordAt } from '../../../signal/checked.js';
import { ENTRY_WORDS } from './id-entry.js';
import { FilterPages, filterBlocks } from './run-filter.js';
import {
  CONTENT_WORDS,
  factsPage,
  PAGE_BYTES,
  PAGE_WORDS,
  placesOf,
  sealPage,
  type RunFacts,
} from './run-pages.js';

/** How many pages are written at once. */
const CHUNK_PAGES = 64;

/** The facts of a file that are fixed before its entries are written. */
export type RunPlan = Pick<RunFacts, 'after' | 'upTo' | 'hashKey' | 'store'>;

/**
 * Writes a file of ids from entries in order. It gets its name only when all of it is on the disk, so a file of that name is
 * whole. Meanwhile it needs a few hundred kilobytes of memory, and 4 bytes for every 255 entries.
 */
export class RunWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #plan: RunPlan;
  readonly #blocks: number;
  readonly #filter: FilterPages;
  readonly #filterChunk: Chunk;
  readonly #dataChunk: Chunk;
  #page = new Uint32Array(PAGE_WORDS);
  #used = 0;
  #entries = 0;
  /** The first word of the first entry of each page. */
  readonly #fences: number[] = [];

  private constructor(path: string, file: FileHandle, plan: RunPlan, mostEntries: number) {
    this.#path = path;
    this.#file = file;
    this.#plan = plan;
    this.#blocks = filterBlocks(mostEntries);
    this.#filterChunk = new Chunk(0);
    this.#dataChunk = new Chunk(placesOf({ dataPages: 0, filterBlocks: this.#blocks }).dataAt);
    this.#filter = new FilterPages(this.#blocks, (page) => {
      this.#filterChunk.add(page);
    });
  }

  /** @param mostEntries as many as will be added, or more */
  static async begin(path: string, plan: RunPlan, mostEntries: number): Promise<RunWriter> {
    const file = await open(unfinished(path), 'w', 0o600);
    return new RunWriter(path, file, plan, mostEntries);
  }

  /** Whether {@link write} should be called before more is added. */
  get isFull(): boolean {
    return this.#dataChunk.pages >= CHUNK_PAGES;
  }

  /** Adds the entry at a place, which comes after those added before. */
  add(words: Uint32Array, at: number): void {
    const first = wordAt(words, at);
    if (this.#used === 0) this.#fences.push(first);
    for (let i = 0; i < ENTRY_WORDS; i++) this.#page[this.#used + i] = wordAt(words, at + i);
    this.#used += ENTRY_WORDS;
    this.#filter.add(first, wordAt(words, at + 1));
    this.#entries++;
    if (this.#used === CONTENT_WORDS) this.#turn();
  }

  /** Writes what has been added so far. */
  async write(): Promise<void> {
    await this.#filterChunk.write(this.#file);
    await this.#dataChunk.write(this.#file);
  }

  /** Resolves when the file is on the disk under its name. */
  async end(): Promise<void> {
    if (this.#used > 0) this.#turn();
    this.#filter.end();
    const facts = {
      ...this.#plan,
      entries: this.#entries,
      dataPages: this.#fences.length,
      filterBlocks: this.#blocks,
    };
    for (let from = 0; from < this.#fences.length; from += CONTENT_WORDS) {
      const fences = this.#fences.slice(from, from + CONTENT_WORDS);
      const page = new Uint32Array(PAGE_WORDS);
      page.set(fences);
      sealPage(page, 0, fences.length, this.#dataChunk.end);
      this.#dataChunk.add(page);
    }
    this.#dataChunk.add(factsPage(facts));
    await this.write();
    await this.#file.sync();
    await this.#file.close();
    await rename(unfinished(this.#path), this.#path);
    await syncDirectory(dirname(this.#path));
  }

  /** Removes what was written. */
  async abandon(): Promise<void> {
    await this.#file.close().catch(() => undefined);
    await rm(unfinished(this.#path), { force: true });
  }

  #turn(): void {
    sealPage(this.#page, 0, this.#used, this.#dataChunk.end);
    this.#dataChunk.add(this.#page);
    this.#page = new Uint32Array(PAGE_WORDS);
    this.#used = 0;
  }
}

/** Pages that follow each other in the file. */
class Chunk {
  #at: number;
  #pages: Uint32Array[] = [];

  /** @param at the number of the first page */
  constructor(at: number) {
    this.#at = at;
  }

  get pages(): number {
    return this.#pages.length;
  }

  /** The number of the next page. */
  get end(): number {
    return this.#at + this.#pages.length;
  }

  add(page: Uint32Array): void {
    this.#pages.push(page);
  }

  async write(file: FileHandle): Promise<void> {
    const pages = this.#pages;
    if (pages.length === 0) return;
    const bytes = Buffer.alloc(pages.length * PAGE_BYTES);
    pages.forEach((page, i) => {
      bytes.set(new Uint8Array(page.buffer), i * PAGE_BYTES);
    });
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await file.write(
        bytes,
        done,
        bytes.length - done,
        this.#at * PAGE_BYTES + done,
      );
      done += bytesWritten;
    }
    this.#at += pages.length;
    this.#pages = [];
  }
}

/** The name of a file during writing; it is never opened under this name. */
function unfinished(path: string): string {
  return `${path}.tmp`;
}
