import type { Logger } from '../../../component/telemetry.js';
import { COLD_TABLES } from '../../schema/cold-tables.js';
import { SEGMENT_TABLES } from '../../schema/tables.js';
import { checkpoint } from '../files/checkpoint.js';
import type { Connection } from '../files/connection.js';
import type { Damage } from '../files/damage.js';
import { isInvalidated } from '../files/database.js';
import { LogMerger } from '../index/merge-logs.js';
import type { Segments } from '../segments/segments.js';
import { foldSums } from '../segments/compact-sums.js';
import { SLICE_ROWS } from './segment-copy.js';

interface Parts {
  readonly segments: Segments;
  readonly logger: Logger;
  readonly damage: Damage;
  readonly stop: AbortSignal;
  /** Called between two slices. Throws when what is under way is to be given up. */
  readonly breathe: () => Promise<void>;
  /** Waits before the next try. */
  readonly pause: () => Promise<void>;
}

/**
 * Keeps the cold file in shape while rows come and go: its sums in few rows, its blocks of logs large, its log short. Nothing is
 * lost where one of these fails; the next time makes up for it.
 */
export class ColdUpkeep {
  readonly #connection: Connection;
  readonly #parts: Parts;
  readonly #merger: LogMerger;
  /** For each table of sums, how many there were at the last check. */
  readonly #sums = new Map<string, number>();

  /** @param connection the compactor's, in no transaction while any of this is under way */
  constructor(connection: Connection, parts: Parts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#merger = new LogMerger(connection);
  }

  /** Blocks of log records that were merged with others since the start. */
  get mergedBlocks(): number {
    return this.#merger.merged;
  }

  /** Puts the parts of sums together. */
  async foldSums(): Promise<void> {
    const { segments, logger } = this.#parts;
    try {
      for (const table of [...SEGMENT_TABLES, ...COLD_TABLES]) {
        if (table.sumsOf === undefined) continue;
        const known = this.#sums.get(table.name) ?? 0;
        const sums = await foldSums(this.#connection, table, segments.oldestBound, known);
        this.#sums.set(table.name, sums);
      }
    } catch (error) {
      logger.warn({ err: error }, 'Could not merge sums in the cold file.');
    }
  }

  /** Merges small blocks of log records. */
  async mergeLogs(): Promise<void> {
    const { segments, logger, stop, breathe } = this.#parts;
    try {
      await this.#merger.mergeNext(segments.oldestBound, SLICE_ROWS, breathe);
    } catch (error) {
      if (stop.aborted) return;
      logger.warn({ err: error }, 'Could not merge small log blocks.');
    }
  }

  /** Takes what the file's log holds into the file. */
  async checkpoint(): Promise<void> {
    try {
      // Joining row groups reads them, which would fail on damage and leave the file unusable each time.
      if (this.#parts.damage.file !== null) await this.#connection.run('SET GLOBAL max_vacuum_tasks = 0');
      await checkpoint(this.#connection, 'cold');
    } catch (error) {
      this.#parts.logger.warn(
        { err: error },
        'Could not checkpoint the cold file; the next compaction retries.',
      );
      await this.attachAfter(error);
    }
  }

  /**
   * After a checkpoint that failed halfway, for lack of room, DuckDB refuses even to read the file as it is attached: then it is
   * attached anew, which is tried until it succeeds.
   *
   * @param error of a statement on the cold file, whatever it was
   */
  async attachAfter(error: unknown): Promise<void> {
    if (!isInvalidated(error)) return;
    const { segments, logger, stop, pause } = this.#parts;
    await segments.withoutReads(async () => {
      while (!stop.aborted) {
        try {
          await segments.attachColdAnew();
          return;
        } catch (failure) {
          logger.error({ err: failure }, 'Could not reattach the cold file; retrying.');
          await pause();
        }
      }
    });
  }
}
