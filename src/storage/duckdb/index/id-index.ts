import { randomBytes } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from '../../../component/telemetry.js';
import { itemAt } from '../../../signal/checked.js';
import { isNoRoom } from '../files/disk-room.js';
import { IdHash } from './id-hash.js';
import type { IdRows } from './id-rows.js';
import { IdTable } from './id-table.js';
import type { RunFile } from './run-file.js';
import { RunList } from './run-list.js';
import { RunMaker } from './run-maker.js';
import { RunNames, type CommitRange, type IndexKind } from '../files/run-names.js';
import { openRuns } from './stored-runs.js';

export interface IndexSize {
  /** Ids are written to a file when about 60 % of 2 to this power of them are in memory, 16 bytes each. */
  readonly tableBits: number;
  /** Memory for filters, at 12 bits an id; filters beyond it are read from the disk. */
  readonly filterBytes: number;
}

const INDEX_SIZE: IndexSize = { tableBits: 17, filterBytes: 48 * 1024 * 1024 };

/** The ids of commits that are in memory and do not change any more. */
interface FrozenTable extends CommitRange {
  readonly table: IdTable;
}

interface Parts {
  readonly names: RunNames;
  /** Identifies the store, so that files of another store are rejected. */
  readonly store: number;
  /** What the ids belong to, for the log. */
  readonly kind: string;
  readonly rows: IdRows;
  readonly logger: Logger;
  readonly size: IndexSize;
}

/**
 * Maps each stored id to the number of the last commit about it. The newest ids are in memory, all others in sorted files
 * ("runs") with small filters, which are merged as their number grows. A miss is certain, a hit almost: the tables decide. The
 * index can be derived from the tables: missing or torn files and files of another store are rebuilt, at the start for commits
 * after the last file, otherwise on detection. Only {@link find} and {@link put} can delay commits; they never wait for files
 * being written and merged.
 */
export class IdIndex {
  readonly #parts: Parts;
  readonly #hash: IdHash;
  readonly #maker: RunMaker;
  readonly #runs: RunList;
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

  private constructor(parts: Parts, hash: IdHash, runs: readonly RunFile[], upTo: number) {
    this.#parts = parts;
    this.#hash = hash;
    this.#maker = new RunMaker({
      ...parts,
      tableBits: parts.size.tableBits,
      hash,
      pause: () => this.#pause(),
    });
    this.#runs = new RunList(runs, {
      ...parts,
      filterBytes: parts.size.filterBytes,
      maker: this.#maker,
      onDamaged: () => {
        this.#wake();
      },
    });
    this.#table = new IdTable(parts.size.tableBits);
    this.#frozenUpTo = upTo;
    this.#upTo = upTo;
  }

  /**
   * Opens the files, and reads later ids from the tables.
   *
   * @param lastSeq the last commit of the store
   */
  static async open(options: {
    readonly mainPath: string;
    readonly kind: IndexKind;
    readonly store: number;
    readonly lastSeq: number;
    readonly rows: IdRows;
    readonly logger: Logger;
    readonly size?: IndexSize | undefined;
  }): Promise<IdIndex> {
    const { mainPath, kind, store, lastSeq, rows, logger, size = INDEX_SIZE } = options;
    const parts = { names: new RunNames(mainPath, kind), kind, store, rows, logger, size };
    const runs = await openRuns(parts, lastSeq);
    const key = runs[0]?.facts.hashKey ?? new Uint32Array(randomBytes(8).buffer.slice(0, 8));
    const index = new IdIndex(parts, new IdHash(key), runs, runs.at(-1)?.facts.upTo ?? 0);
    try {
      await index.#runs.fillGaps();
      await index.#readTail(lastSeq);
      while (!(await index.#runs.fitFilters())) await index.#runs.repair();
    } catch (error) {
      await index.close();
      throw error;
    }
    index.#wake();
    return index;
  }

  /** The number of ids; some may be counted more than once. */
  get size(): number {
    return this.#runs.entries + this.#tables.reduce((sum, { size }) => sum + size, 0);
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.#runs.bytes + this.#tables.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** How many files hold the ids. */
  get runs(): number {
    return this.#runs.length;
  }

  /**
   * The last commit about an id; 0 if there is none.
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
    return this.#runs.find(key);
  }

  /** Notes that a commit was about an id. To be called after it, commit by commit. */
  put(tenant: number, words: Uint32Array, offset: number, seq: number): void {
    // A table is frozen only between two commits: a file has all ids of a commit or none.
    if (seq !== this.#upTo && this.#table.isFull) this.#freeze();
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

  /** Closes the files, after the work under way has ended. */
  async close(): Promise<void> {
    this.stop();
    await this.#working;
    await this.#runs.close();
  }

  get #tables(): IdTable[] {
    return [this.#table, ...this.#frozen.map(({ table }) => table)];
  }

  #freeze(): void {
    this.#frozen.push({ table: this.#table, after: this.#frozenUpTo, upTo: this.#upTo });
    this.#table = new IdTable(this.#parts.size.tableBits);
    this.#frozenUpTo = this.#upTo;
    this.#wake();
  }

  #wake(): void {
    this.#isLeft = true;
    if (!this.#isClosing) this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    // Yields first, so that the caller's step is not delayed.
    await yieldToOthers();
    while (this.#isLeft && !this.#isClosing) {
      this.#isLeft = false;
      try {
        const didSomething = await this.#step();
        const areSound = await this.#runs.fitFilters();
        if (didSomething || !areSound) this.#isLeft = true;
      } catch (error) {
        // A damaged file is rebuilt next.
        if (this.#runs.notes(error)) this.#isLeft = true;
        else if (!(error instanceof Stopped)) this.#sayFailed(error);
      }
    }
    this.#working = null;
  }

  #sayFailed(error: unknown): void {
    if (this.#isClosing) return;
    this.#parts.logger.error(
      { err: error, ids: this.#parts.kind },
      'Could not write files of the id index; keeping it in memory and retrying later.',
    );
  }

  /** @returns false if there was nothing to do */
  async #step(): Promise<boolean> {
    const [frozen] = this.#frozen;
    if (frozen !== undefined) {
      const run = await this.#maker.write(frozen.table, frozen);
      this.#runs.push(run);
      this.#frozen.shift();
      return true;
    }
    if (await this.#runs.repair()) return true;
    if (!this.#wantsTrim) return await this.#runs.merge();
    this.#wantsTrim = false;
    await this.#runs.trim(() => this.#pause());
    return true;
  }

  /** Reads the ids of commits after the last file. */
  async #readTail(lastSeq: number): Promise<void> {
    const cuts = await this.#maker.cut({ after: this.#upTo, upTo: lastSeq });
    const [whole, last] = [cuts.at(-2), cuts.at(-1)];
    if (whole !== undefined) {
      try {
        this.#runs.push(...(await this.#maker.fromTables({ after: this.#upTo, upTo: whole })));
      } catch (error) {
        if (!isNoRoom(error)) throw error;
        this.#sayFailed(error);
        await this.#freezeParts(this.#upTo, cuts.slice(0, -1));
      }
      this.#frozenUpTo = whole;
    }
    if (last === undefined) return;
    this.#table = await this.#maker.tableOf({ after: this.#frozenUpTo, upTo: last });
    this.#upTo = last;
  }

  /** Keeps ids in memory while there is no space for their file on the disk. */
  async #freezeParts(first: number, cuts: readonly number[]): Promise<void> {
    let after = first;
    for (const upTo of cuts) {
      this.#frozen.push({ table: await this.#maker.tableOf({ after, upTo }), after, upTo });
      after = upTo;
    }
  }

  async #pause(): Promise<void> {
    await yieldToOthers();
    if (this.#isClosing) throw new Stopped();
  }
}

/** The index is being closed. */
class Stopped extends Error {}
