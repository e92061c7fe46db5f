import { ConsumeError } from '../../../component/consume-error.js';
import type { Logger } from '../../../component/telemetry.js';
import { itemAt } from '../../../signal/checked.js';
import type { CommitRange } from '../files/run-names.js';
import { chooseMerge } from './choose-merge.js';
import type { IdKey } from './id-hash.js';
import type { IdRows } from './id-rows.js';
import { DamagedRun, type RunFile } from './run-file.js';
import type { RunMaker } from './run-maker.js';
import { discard } from './stored-runs.js';

interface Parts {
  readonly maker: RunMaker;
  /** What the ids are of, for the log. */
  readonly kind: string;
  readonly rows: IdRows;
  readonly logger: Logger;
  /** Memory for filters. */
  readonly filterBytes: number;
  /** Called when a look-up finds a damaged file. */
  readonly onDamaged: () => void;
}

/**
 * Holds the files of an index: repairs, merges and trims them. A damaged file stays in use until it is rebuilt. Files are written
 * one at a time; lookups continue meanwhile.
 */
export class RunList {
  readonly #parts: Parts;
  /** Oldest first, without gaps except for commits whose ids are gone. */
  readonly #runs: RunFile[];
  readonly #damaged = new Set<RunFile>();

  /** @param runs oldest first */
  constructor(runs: readonly RunFile[], parts: Parts) {
    this.#runs = [...runs];
    this.#parts = parts;
  }

  get length(): number {
    return this.#runs.length;
  }

  /** The number of ids; some may be counted more than once. */
  get entries(): number {
    return this.#runs.reduce((sum, { facts }) => sum + facts.entries, 0);
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.#runs.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The number of an id in the newest file that has it; 0 if none has it. @throws ConsumeError `storage_unavailable` */
  find(key: IdKey): number {
    for (let i = this.#runs.length - 1; i >= 0; i--) {
      const number = this.#findIn(itemAt(this.#runs, i), key);
      if (number > 0) return number;
    }
    return 0;
  }

  /** @param runs of later commits than all that are here, oldest first */
  push(...runs: readonly RunFile[]): void {
    this.#runs.push(...runs);
  }

  async close(): Promise<void> {
    for (const run of this.#runs.splice(0)) await run.close();
  }

  /** Whether an error says that a file is damaged: then {@link repair} has something to do. */
  notes(error: unknown): boolean {
    if (!(error instanceof DamagedRun) || error.run === null) return false;
    this.#damaged.add(error.run);
    return true;
  }

  /** Rebuilds damaged files. @returns false if no file is marked as damaged */
  async repair(): Promise<boolean> {
    if (this.#damaged.size === 0) return false;
    for (const run of this.#damaged) {
      this.#sayLost(run.facts);
      await this.#replace([run], await this.#parts.maker.fromTables(run.facts));
      this.#damaged.delete(run);
    }
    return true;
  }

  /** Removes ids that the tables no longer have. @param pause called between two files */
  async trim(pause: () => Promise<void>): Promise<void> {
    for (const run of [...this.#runs]) {
      const left = await this.#parts.rows.count(run.facts);
      // If fewer ids are gone, a rewrite hardly makes the file smaller.
      if (left > run.facts.entries / 2) continue;
      await this.#replace([run], await this.#parts.maker.fromTables(run.facts));
      await pause();
    }
  }

  /** Merges some files. @returns false if there are few enough */
  async merge(): Promise<boolean> {
    const chosen = chooseMerge(this.#runs.map(({ facts }) => facts.entries));
    if (chosen === null) return false;
    const merged = this.#runs.slice(chosen.from, chosen.to);
    await this.#replace(merged, [await this.#parts.maker.merge(merged)]);
    return true;
  }

  /** Rebuilds files for missing ranges of commits. */
  async fillGaps(): Promise<void> {
    let after = 0;
    for (const run of [...this.#runs]) {
      if (run.facts.after > after) {
        const range = { after, upTo: run.facts.after };
        const made = await this.#parts.maker.fromTables(range);
        if (made.length > 0) this.#sayLost(range);
        this.#runs.splice(this.#runs.indexOf(run), 0, ...made);
      }
      after = run.facts.upTo;
    }
  }

  /** Loads the filters of the newest files that fit into memory. @returns false if a filter is damaged */
  async fitFilters(): Promise<boolean> {
    let left = this.#parts.filterBytes;
    for (const run of [...this.#runs].reverse()) {
      left -= run.filterBytes;
      if (left < 0) run.dropFilter();
      else if (!run.hasFilter) {
        try {
          await run.loadFilter();
        } catch (error) {
          if (!this.notes(error)) throw error;
          return false;
        }
      }
    }
    return true;
  }

  #findIn(run: RunFile, key: IdKey): number {
    try {
      return run.find(key);
    } catch (cause) {
      this.#damaged.add(run);
      this.#parts.onDamaged();
      throw new ConsumeError('Rebuilding a part of the id index.', {
        code: 'storage_unavailable',
        retryable: true,
        retryAfterMs: 5000,
        cause,
      });
    }
  }

  /** Puts files in the place of neighbours that have the same commits. */
  async #replace(before: readonly RunFile[], after: readonly RunFile[]): Promise<void> {
    const at = this.#runs.findIndex((run) => run === before[0]);
    this.#runs.splice(at, before.length, ...after);
    await discard(before, after);
  }

  #sayLost({ after, upTo }: CommitRange): void {
    this.#parts.logger.warn(
      { ids: this.#parts.kind, after, upTo },
      'A part of the id index was missing or damaged; rebuilding it from the tables. No data is lost.',
    );
  }
}
