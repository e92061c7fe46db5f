import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { ConsumeError } from '../../../component/consume-error.js';
import type { Logger } from '../../../component/telemetry.js';
import { itemAt } from '../../../signal/checked.js';
import { idFilePath, idFiles, type CommitRange, type IndexKind } from '../files/id-files.js';
import { IdHash, type IdKey } from './id-entry.js';
import { DamagedIds, IdFile, writeIdFile } from './id-file.js';
import { IdTable } from './id-table.js';

/** The tables from which an index is built, and rebuilt after a loss. */
export interface IdRows {
  /** Calls `add` for every id in a range of commits, with one or more of those commits, including the last one. */
  scan(range: CommitRange, add: AddId): Promise<void>;
  /** Cuts a range into parts in which {@link scan} calls `add` about this often; none if it has no ids. */
  cut(range: CommitRange, ids: number): Promise<RowsPart[]>;
}

/** @param words the id in four words, from `offset` on */
export type AddId = (tenant: number, words: Uint32Array, offset: number, seq: number) => void;

export interface RowsPart {
  /** Its last commit. */
  readonly upTo: number;
  readonly ids: number;
}

export interface IndexSize {
  /** Ids are written to a file when about 60 % of 2 to this power of them are in memory, 16 bytes each. */
  readonly tableBits: number;
  /** Memory for filters, at 12 bits an id; filters beyond it are read from the disk. */
  readonly filterBytes: number;
}

const INDEX_SIZE: IndexSize = { tableBits: 17, filterBytes: 48 * 1024 * 1024 };
/** The share of a table's places that is filled from the tables of the store. */
const CUT = 0.75;

/** The ids of commits that are in memory and do not change any more. */
interface FrozenTable extends CommitRange {
  readonly table: IdTable;
}

interface Options {
  /** Path of the store's main file. */
  readonly mainPath: string;
  readonly kind: IndexKind;
  /** Identifies the store, so that files of another store are rejected. */
  readonly store: number;
  /** The last commit of the store. */
  readonly lastSeq: number;
  readonly rows: IdRows;
  readonly logger: Logger;
  readonly size?: IndexSize | undefined;
}

/**
 * Maps each stored id to the number of the last commit about it. The newest ids are in memory, all others in sorted files with
 * small filters, which are merged as their number grows. A miss is certain, a hit almost: the tables decide. The index can be
 * derived from the tables: missing or torn files and files of another store are rebuilt, at the start for commits after the last
 * file, otherwise on detection. Only {@link find} and {@link put} can delay commits; they never wait for files being written and
 * merged.
 */
export class IdIndex {
  readonly #options: Options;
  readonly #size: IndexSize;
  readonly #hash: IdHash;
  /** Oldest first, without gaps except for commits whose ids are gone. A damaged file stays until it is rebuilt. */
  readonly #files: IdFile[];
  /** Oldest first. */
  #frozen: FrozenTable[] = [];
  #table: IdTable;
  /** The last commit in the files and the frozen tables, and the last one of all. */
  #frozenUpTo: number;
  #upTo: number;
  #wantsTrim = false;
  #working: Promise<void> | null = null;
  /** Whether there may be work left. */
  #isLeft = false;
  #isClosing = false;
  /** Files written by the running work. */
  #written = new WeakSet<IdFile>();

  private constructor(options: Options, files: IdFile[]) {
    this.#options = options;
    this.#size = options.size ?? INDEX_SIZE;
    const key = files[0]?.facts.hashKey ?? new Uint32Array(randomBytes(8).buffer.slice(0, 8));
    this.#hash = new IdHash(key);
    this.#files = files;
    this.#table = new IdTable(this.#size.tableBits);
    this.#frozenUpTo = this.#upTo = files.at(-1)?.facts.upTo ?? 0;
  }

  /** Opens the files, and reads what they lack from the tables. */
  static async open(options: Options): Promise<IdIndex> {
    const index = new IdIndex(options, await openFiles(options));
    try {
      await index.#fillGaps();
      await index.#readTail();
    } catch (error) {
      await index.close();
      throw error;
    }
    index.#wake();
    return index;
  }

  /** The number of ids; some may be counted more than once. */
  get size(): number {
    return [...this.#files, ...this.#tables].reduce((sum, { size }) => sum + size, 0);
  }

  /** Bytes of memory. */
  get bytes(): number {
    return [...this.#files, ...this.#tables].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * The last commit about an id; 0 if missing.
   *
   * @param words the id in four words, from `offset` on
   * @throws ConsumeError `storage_unavailable` if the file that may have it is damaged; it is being rebuilt
   */
  find(tenant: number, words: Uint32Array, offset: number): number {
    const key = this.#hash.of(tenant, words, offset);
    const inTable = this.#table.find(key);
    if (inTable > 0) return inTable;
    for (let i = this.#frozen.length - 1; i >= 0; i--) {
      const seq = itemAt(this.#frozen, i).table.find(key);
      if (seq > 0) return seq;
    }
    for (let i = this.#files.length - 1; i >= 0; i--) {
      const seq = this.#findIn(itemAt(this.#files, i), key);
      if (seq > 0) return seq;
    }
    return 0;
  }

  /** Notes that a commit was about an id. To be called after it, commit by commit. */
  put(tenant: number, words: Uint32Array, offset: number, seq: number): void {
    // A table is frozen only between two commits: a file has all ids of a commit or none.
    if (seq !== this.#upTo && this.#table.isFull) {
      this.#freeze(this.#table, this.#upTo);
      this.#table = new IdTable(this.#size.tableBits);
      this.#wake();
    }
    this.#table.put(this.#hash.of(tenant, words, offset), seq);
    this.#upTo = seq;
  }

  /** Drops ids that the tables no longer have, file by file, at some later time. */
  trim(): void {
    this.#wantsTrim = true;
    this.#wake();
  }

  /** Resolves when nothing is left to write or to merge. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** Starts no new work, and aborts the current work. Ids can still be found. */
  stop(): void {
    this.#isClosing = true;
  }

  /** Closes the files after the running work has ended. */
  async close(): Promise<void> {
    this.stop();
    await this.#working;
    for (const file of this.#files.splice(0)) await file.close();
  }

  get #tables(): IdTable[] {
    return [this.#table, ...this.#frozen.map(({ table }) => table)];
  }

  #findIn(file: IdFile, key: IdKey): number {
    try {
      return file.find(key);
    } catch (cause) {
      file.isDamaged = true;
      this.#wake();
      throw new ConsumeError('Rebuilding a part of the id index.', {
        code: 'storage_unavailable',
        retryable: true,
        retryAfterMs: 5000,
        cause,
      });
    }
  }

  /** @param table the ids of all commits since the last frozen table */
  #freeze(table: IdTable, upTo: number): void {
    this.#frozen.push({ table, after: this.#frozenUpTo, upTo });
    this.#frozenUpTo = upTo;
  }

  #wake(): void {
    this.#isLeft = true;
    if (!this.#isClosing) this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    // Yields first, so that the caller's step is not delayed.
    await yieldToOthers();
    this.#written = new WeakSet();
    while (this.#isLeft && !this.#isClosing) {
      this.#isLeft = false;
      try {
        await this.#fitFilters();
        if (await this.#step()) this.#isLeft = true;
      } catch (error) {
        if (this.#canRebuild(error)) this.#isLeft = true;
        else if (!(error instanceof Stopped)) this.#logFailed(error);
      }
    }
    this.#working = null;
  }

  /** Whether an error is a damaged file to rebuild next. Not if it was just written: then the disk is bad and rebuilding would not end. */
  #canRebuild(error: unknown): boolean {
    return error instanceof DamagedIds && error.file !== null && !this.#written.has(error.file);
  }

  #logFailed(error: unknown): void {
    if (this.#isClosing) return;
    this.#options.logger.error(
      { err: error, ids: this.#options.kind },
      'Could not write files of the id index; keeping it in memory and retrying later.',
    );
  }

  /** @returns false if there was nothing to do */
  async #step(): Promise<boolean> {
    if (this.#frozen.length > 0) {
      await this.#writeFrozen();
      return true;
    }
    const damaged = this.#files.find(({ isDamaged }) => isDamaged);
    if (damaged !== undefined) {
      this.#logLost(damaged.facts);
      await replace(this.#files, [damaged], await this.#rebuild(damaged.facts));
      return true;
    }
    if (!this.#wantsTrim) return await this.#mergeSome(this.#files);
    this.#wantsTrim = false;
    await this.#trimFiles();
    return true;
  }

  async #writeFrozen(): Promise<void> {
    const frozen = itemAt(this.#frozen, 0);
    this.#files.push(await this.#write(frozen, [frozen.table]));
    this.#frozen.shift();
  }

  async #trimFiles(): Promise<void> {
    for (const file of [...this.#files]) {
      const [left] = await this.#options.rows.cut(file.facts, Number.MAX_SAFE_INTEGER);
      // If fewer ids are gone, a rewrite hardly makes the file smaller.
      if (left !== undefined && left.ids > file.size / 2) continue;
      await replace(this.#files, [file], await this.#rebuild(file.facts));
      await this.#pause();
    }
  }

  /** Merges some files, from a position on. @returns false if no merge is needed */
  async #mergeSome(files: IdFile[], first = 0): Promise<boolean> {
    const merged = chooseMerge(files.slice(first));
    if (merged.length === 0) return false;
    const range = {
      after: itemAt(merged, 0).facts.after,
      upTo: itemAt(merged, merged.length - 1).facts.upTo,
    };
    await replace(files, merged, [await this.#write(range, merged)]);
    return true;
  }

  /** Loads the filters of the newest files that fit into memory. @throws DamagedIds */
  async #fitFilters(): Promise<void> {
    let left = this.#size.filterBytes;
    for (const file of [...this.#files].reverse()) {
      left -= file.filterBytes;
      if (!file.isDamaged) await file.keepFilter(left >= 0);
    }
  }

  /** Rebuilds files for missing ranges of commits. */
  async #fillGaps(): Promise<void> {
    let after = 0;
    for (const file of [...this.#files]) {
      const range = { after, upTo: file.facts.after };
      const made = range.upTo > after ? await this.#rebuild(range) : [];
      if (made.length > 0) this.#logLost(range);
      this.#files.splice(this.#files.indexOf(file), 0, ...made);
      after = file.facts.upTo;
    }
  }

  /** Reads the ids of commits after the last file. */
  async #readTail(): Promise<void> {
    const { lastSeq } = this.#options;
    const first = this.#files.length;
    const parts = await this.#partsOf({ after: this.#frozenUpTo, upTo: lastSeq });
    let canWrite = true;
    for (const [i, part] of parts.entries()) {
      const table = await this.#tableOf(part);
      this.#upTo = part.upTo;
      if (i === parts.length - 1) this.#table = table;
      else {
        this.#freeze(table, part.upTo);
        if (canWrite) canWrite = await this.#writeTail(first);
      }
    }
  }

  /** @param first the first file of the tail @returns false if a write failed: then the rest stays in memory */
  async #writeTail(first: number): Promise<boolean> {
    try {
      await this.#writeFrozen();
      // A long range would produce hundreds of files.
      while (await this.#mergeSome(this.#files, first));
      return true;
    } catch (error) {
      this.#logFailed(error);
      return false;
    }
  }

  /** Files with the ids that the tables have in a range of commits. */
  async #rebuild(range: CommitRange): Promise<IdFile[]> {
    const made: IdFile[] = [];
    try {
      for (const part of await this.#partsOf(range)) {
        made.push(await this.#write(part, [await this.#tableOf(part)]));
        // A long range would produce hundreds of files.
        while (await this.#mergeSome(made));
        await this.#pause();
      }
    } catch (error) {
      for (const file of made) await file.close();
      throw error;
    }
    return made;
  }

  /** Cuts a range into parts whose ids each fit into one table in memory. */
  async #partsOf({ after, upTo }: CommitRange): Promise<CommitRange[]> {
    const cuts = await this.#options.rows.cut({ after, upTo }, Math.floor(2 ** this.#size.tableBits * CUT));
    return cuts.map((cut, i) => ({
      after: cuts[i - 1]?.upTo ?? after,
      upTo: i === cuts.length - 1 ? upTo : cut.upTo,
    }));
  }

  async #tableOf(range: CommitRange): Promise<IdTable> {
    const table = new IdTable(this.#size.tableBits);
    await this.#options.rows.scan(range, (tenant, words, offset, seq) => {
      const key = this.#hash.of(tenant, words, offset);
      if (seq > table.find(key)) table.put(key, seq);
    });
    return table;
  }

  async #write(range: CommitRange, sources: readonly (IdFile | IdTable)[]): Promise<IdFile> {
    const { mainPath, kind, store } = this.#options;
    const plan = { after: range.after, upTo: range.upTo, store, hashKey: this.#hash.key };
    const path = idFilePath(mainPath, kind, range);
    const file = await writeIdFile(path, plan, sources, () => this.#pause());
    this.#written.add(file);
    return file;
  }

  async #pause(): Promise<void> {
    await yieldToOthers();
    if (this.#isClosing) throw new Stopped();
  }

  #logLost({ after, upTo }: CommitRange): void {
    this.#options.logger.warn(
      { ids: this.#options.kind, after, upTo },
      'A part of the id index was missing or damaged; rebuilding it from the tables. No data is lost.',
    );
  }
}

/** The index is being closed. */
class Stopped extends Error {}

/** Opens the valid files of ids, in the order of their commits, and removes others. */
async function openFiles({ mainPath, kind, store, lastSeq, logger }: Options): Promise<IdFile[]> {
  const opened: IdFile[] = [];
  for (const { path, isUnfinished, ...name } of idFiles(mainPath)) {
    if (name.kind !== kind) continue;
    const file = isUnfinished ? null : await openSound(path);
    if (file?.facts.store === store && file.facts.upTo <= lastSeq) {
      opened.push(file);
      continue;
    }
    if (!isUnfinished) {
      logger.warn(
        { ids: kind, file: path },
        'Removed a file of the id index that is damaged or belongs to another store.',
      );
    }
    await file?.close();
    await rm(path, { force: true });
  }
  // A file that covers the commits of others was merged from them by a process that ended before it removed them.
  opened.sort((a, b) => a.facts.after - b.facts.after || b.facts.upTo - a.facts.upTo);
  const files: IdFile[] = [];
  for (const file of opened) {
    const isNext = file.facts.after >= (files.at(-1)?.facts.upTo ?? 0);
    const isAlike = file.facts.hashKey.join() === opened[0]?.facts.hashKey.join();
    if (isNext && isAlike) files.push(file);
    else await discard([file]);
  }
  return files;
}

async function openSound(path: string): Promise<IdFile | null> {
  try {
    return await IdFile.open(path);
  } catch (error) {
    if (error instanceof DamagedIds) return null;
    throw error;
  }
}

/** Puts files in the place of neighbours that have the same commits. */
async function replace(files: IdFile[], before: readonly IdFile[], after: readonly IdFile[]): Promise<void> {
  files.splice(files.indexOf(itemAt(before, 0)), before.length, ...after);
  await discard(before, after);
}

/** Closes and removes files, except those whose names newer files use. */
async function discard(files: readonly IdFile[], others: readonly IdFile[] = []): Promise<void> {
  for (const file of files) {
    await file.close();
    if (!others.some(({ path }) => path === file.path)) await rm(file.path, { force: true });
  }
}

/** Fewer files are not worth a merge; with more files a lookup checks too many filters. */
const LEAST = 4;
const MOST = 8;
/** A merged file is at least this many times as large as its largest part, so that no id is written more than a few times. */
const GROWTH = 2.5;

/** The neighbouring files whose merge gives the smallest file; none if there are few enough. */
function chooseMerge(files: readonly IdFile[]): readonly IdFile[] {
  let best: readonly IdFile[] = [];
  let least = Infinity;
  for (let from = 0; from + LEAST <= files.length; from++) {
    let total = 0;
    let largest = 0;
    for (let to = from + 1; to <= Math.min(from + MOST, files.length); to++) {
      const { size } = itemAt(files, to - 1);
      total += size;
      largest = Math.max(largest, size);
      if (to - from < LEAST || total < largest * GROWTH) continue;
      // Among windows that begin together, a longer one saves a merge later.
      if (total >= least && best[0] !== files[from]) continue;
      best = files.slice(from, to);
      least = total;
    }
  }
  return best;
}
