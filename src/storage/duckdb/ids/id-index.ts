import { randomBytes } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { ConsumeError } from '../../../component/consume-error.js';
import type { Logger } from '../../../component/telemetry.js';
import { isNoRoom } from '../files/disk-room.js';
import { chooseMerge } from './choose-merge.js';
import { IdHash } from './id-hash.js';
import type { IdRows } from './id-rows.js';
import { IdTable } from './id-table.js';
import { DamagedRun, type RunFile } from './run-file.js';
import { RunMaker } from './run-maker.js';
import { RunNames, type CommitRange, type IndexKind } from '../files/run-names.js';
import { discard, openRuns } from './stored-runs.js';

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
  /** Tells the store from others, so that files of another store are not believed. */
  readonly store: number;
  /** What the ids belong to, for the log. */
  readonly kind: string;
  readonly rows: IdRows;
  readonly logger: Logger;
  readonly size: IndexSize;
}

/**
 * Which ids are stored, each with the number of the last commit that was about it. The newest are in memory, everything else in
 * sorted files ("runs") behind small filters, which are merged as they grow in number. A miss is certain, and a hit nearly so:
 * the tables have the last word. All of it can be derived from the tables: what is missing, torn or another store's is made anew,
 * at the start from where the files end, otherwise when it is found. Only {@link find} and {@link put} can hold up commits; they
 * never wait for files being written and merged.
 */
export class IdIndex {
  readonly #parts: Parts;
  readonly #hash: IdHash;
  readonly #maker: RunMaker;
  /** Oldest first, without gaps except for commits whose ids are gone. */
  #runs: RunFile[];
  /** Oldest first. */
  #frozen: FrozenTable[] = [];
  #table: IdTable;
  /** The last commit in the files and the frozen tables, and the last one of all. */
  #frozenUpTo: number;
  #upTo: number;
  readonly #damaged = new Set<RunFile>();
  #wantsTrim = false;
  #working: Promise<void> | null = null;
  /** Whether there may be work left. */
  #isLeft = false;
  #isClosing = false;

  private constructor(parts: Parts, hash: IdHash, runs: RunFile[], upTo: number) {
    this.#parts = parts;
    this.#hash = hash;
    this.#maker = new RunMaker({
      ...parts,
      tableBits: parts.size.tableBits,
      hash,
      pause: () => this.#pause(),
    });
    this.#runs = runs;
    this.#table = new IdTable(parts.size.tableBits);
    this.#frozenUpTo = upTo;
    this.#upTo = upTo;
  }

  /**
   * Opens what is on the disk, and reads the rest from the tables.
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
      await index.#fillGaps();
      await index.#readTail(lastSeq);
      while (!(await index.#fitFilters())) await index.#repair();
    } catch (error) {
      await index.close();
      throw error;
    }
    index.#wake();
    return index;
  }

  /** How many ids there are; some may be counted more than once. */
  get size(): number {
    const inFiles = this.#runs.reduce((sum, { facts }) => sum + facts.entries, 0);
    return inFiles + this.#tables.reduce((sum, { size }) => sum + size, 0);
  }

  /** How many bytes of memory it takes. */
  get bytes(): number {
    const ofRuns = this.#runs.reduce((sum, { bytes }) => sum + bytes, 0);
    return ofRuns + this.#tables.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** How many files hold the ids. */
  get runs(): number {
    return this.#runs.length;
  }

  /**
   * The last commit that was about an id; 0 where there was none.
   *
   * @param words the id in four words, from `offset` on
   * @throws ConsumeError `storage_unavailable` where the file that may have it is damaged; it is being made anew
   */
  find(tenant: number, words: Uint32Array, offset: number): number {
    const key = this.#hash.of(tenant, words, offset);
    const inTable = this.#table.find(key);
    if (inTable > 0) return inTable;
    for (let i = this.#frozen.length - 1; i >= 0; i--) {
      const seq = this.#frozen[i]?.table.find(key) ?? 0;
      if (seq > 0) return seq;
    }
    for (let i = this.#runs.length - 1; i >= 0; i--) {
      const run = this.#runs[i];
      const seq = run === undefined ? 0 : this.#findIn(run, key);
      if (seq > 0) return seq;
    }
    return 0;
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

  /** Begins nothing new, and gives up what is under way. Ids can still be found. */
  stop(): void {
    this.#isClosing = true;
  }

  /** Closes the files, after the work under way has ended. */
  async close(): Promise<void> {
    this.stop();
    await this.#working;
    for (const run of this.#runs.splice(0)) await run.close();
  }

  get #tables(): IdTable[] {
    return [this.#table, ...this.#frozen.map(({ table }) => table)];
  }

  #findIn(run: RunFile, key: Uint32Array): number {
    try {
      return run.find(key);
    } catch (cause) {
      this.#damaged.add(run);
      this.#wake();
      throw new ConsumeError('A part of the index of ids is being made anew.', {
        code: 'storage_unavailable',
        retryable: true,
        retryAfterMs: 5000,
        cause,
      });
    }
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
    // Not in the step in which somebody needs something else.
    await yieldToOthers();
    while (this.#isLeft && !this.#isClosing) {
      this.#isLeft = false;
      try {
        const didSomething = await this.#step();
        const areSound = await this.#fitFilters();
        if (didSomething || !areSound) this.#isLeft = true;
      } catch (error) {
        // A damaged file is made anew next.
        if (this.#isFound(error)) this.#isLeft = true;
        else if (!(error instanceof Stopped)) this.#sayFailed(error);
      }
    }
    this.#working = null;
  }

  #sayFailed(error: unknown): void {
    if (this.#isClosing) return;
    this.#parts.logger.error(
      { err: error, ids: this.#parts.kind },
      'Files of the index of ids could not be written; what is in memory stays there, and it is tried again later.',
    );
  }

  /** Whether an error says that a file is damaged, which is then noted. */
  #isFound(error: unknown): boolean {
    if (!(error instanceof DamagedRun) || error.run === null) return false;
    this.#damaged.add(error.run);
    return true;
  }

  /** @returns false where nothing was left to do */
  async #step(): Promise<boolean> {
    const [frozen] = this.#frozen;
    if (frozen !== undefined) {
      const run = await this.#maker.write(frozen.table, frozen);
      this.#runs.push(run);
      this.#frozen.shift();
    } else if (this.#damaged.size > 0) {
      await this.#repair();
    } else if (this.#wantsTrim) {
      this.#wantsTrim = false;
      await this.#trim();
    } else {
      const chosen = chooseMerge(this.#runs.map(({ facts }) => facts.entries));
      if (chosen === null) return false;
      const merged = this.#runs.slice(chosen.from, chosen.to);
      await this.#replace(merged, [await this.#maker.merge(merged)]);
    }
    return true;
  }

  async #repair(): Promise<void> {
    for (const run of this.#damaged) {
      this.#sayLost(run.facts);
      await this.#replace([run], await this.#maker.fromTables(run.facts));
      this.#damaged.delete(run);
    }
  }

  async #trim(): Promise<void> {
    for (const run of [...this.#runs]) {
      const left = await this.#parts.rows.count(run.facts);
      // If fewer are gone, writing the file anew would hardly make it smaller.
      if (left > run.facts.entries / 2) continue;
      await this.#replace([run], await this.#maker.fromTables(run.facts));
      await this.#pause();
    }
  }

  async #fillGaps(): Promise<void> {
    let after = 0;
    for (const run of [...this.#runs, null]) {
      const upTo = run?.facts.after ?? after;
      if (upTo > after) {
        const range = { after, upTo };
        const made = await this.#maker.fromTables(range);
        if (made.length > 0) this.#sayLost(range);
        const at = run === null ? this.#runs.length : this.#runs.indexOf(run);
        this.#runs.splice(at, 0, ...made);
      }
      after = run?.facts.upTo ?? after;
    }
  }

  /** Reads what came after the last file was written. */
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

  /** Keeps in memory for the time being what has no room on the disk. */
  async #freezeParts(first: number, cuts: readonly number[]): Promise<void> {
    let after = first;
    for (const upTo of cuts) {
      this.#frozen.push({ table: await this.#maker.tableOf({ after, upTo }), after, upTo });
      after = upTo;
    }
  }

  /** Puts files in the place of neighbours that have the same commits. */
  async #replace(before: readonly RunFile[], after: readonly RunFile[]): Promise<void> {
    const at = this.#runs.findIndex((run) => run === before[0]);
    this.#runs.splice(at, before.length, ...after);
    await discard(before, after);
  }

  /** Loads the filters of the newest files, as far as there is room in memory. @returns false where one is damaged */
  async #fitFilters(): Promise<boolean> {
    let left = this.#parts.size.filterBytes;
    for (const run of [...this.#runs].reverse()) {
      left -= run.filterBytes;
      if (left < 0) run.dropFilter();
      else if (!run.hasFilter) {
        try {
          await run.loadFilter();
        } catch (error) {
          if (!this.#isFound(error)) throw error;
          return false;
        }
      }
    }
    return true;
  }

  async #pause(): Promise<void> {
    await yieldToOthers();
    if (this.#isClosing) throw new Stopped();
  }

  #sayLost({ after, upTo }: CommitRange): void {
    this.#parts.logger.warn(
      { ids: this.#parts.kind, after, upTo },
      'A part of the index of ids was missing or damaged; it is made anew from the tables, and nothing is lost.',
    );
  }
}

/** The index is being closed. */
class Stopped extends Error {}
