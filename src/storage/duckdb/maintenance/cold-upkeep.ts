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
  /** Called between two slices. Throws if the current work must be aborted. */
  readonly breathe: () => Promise<void>;
  /** Waits before the next attempt. */
  readonly pause: () => Promise<void>;
}

/**
 * Maintains the cold file: merges the parts of sums and small blocks of logs, and truncates its log. A failure loses nothing; the
 * next run catches up.
 */
export class ColdUpkeep {
  readonly #connection: Connection;
  readonly #parts: Parts;
  readonly #merger: LogMerger;
  /** Number of sums at the last check, by table. */
  readonly #sums = new Map<string, number>();

  /** @param connection the connection of the compactor; must not be in a transaction during these calls */
  constructor(connection: Connection, parts: Parts) {
    this.#connection = connection;
    this.#parts = parts;
    this.#merger = new LogMerger(connection);
  }

  /** Blocks of log records merged since the start. */
  get mergedBlocks(): number {
    return this.#merger.merged;
  }

  /** Merges the parts of sums. */
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

  /** Checkpoints the log of the file into the file. */
  async checkpoint(): Promise<void> {
    try {
      // Merging row groups reads them, which fails on damage and invalidates the file each time.
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
   * If a checkpoint fails halfway for lack of space, DuckDB invalidates the attached file even for reads. This reattaches the file
   * and retries until that succeeds.
   *
   * @param error any error of a statement on the cold file
   */
  async attachAfter(error: unknown): Promise<void> {
    if (!isInvalidated(error)) return;
    const { segments, logger, stop, pause } = this.#parts;
    await segments.withoutReads(async () => {
      while (!stop.aborted) {
        try {
          await segments.reattachCold();
          return;
        } catch (failure) {
          logger.error({ err: failure }, 'Could not reattach the cold file; retrying.');
          await pause();
        }
      }
    });
  }
}
