import type { Clock, Logger } from '../../../component/telemetry.js';
import type { Damage } from '../../../delivery/queue/disk/segment.js';
import { MS_PER_SECOND } from '../../../signal/time-units.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import type { Cause } from './metrics.js';

/** Logs of a tail sampler, each at most once in ten seconds. */
export class TailLogs {
  readonly #behind: SparseLog;
  readonly #disk: SparseLog;
  readonly #early: SparseLog;
  readonly #lost: SparseLog;

  constructor(logger: Logger, clock: Clock) {
    [this.#behind, this.#disk, this.#early, this.#lost] = [0, 0, 0, 0].map(
      () => new SparseLog(logger, clock),
    ) as [SparseLog, SparseLog, SparseLog, SparseLog];
  }

  damaged({ path, offset, bytes, lost }: Damage): void {
    this.#disk.warn(
      lost.items,
      { path, offset, bytes },
      'Skipped an unreadable part of the journal. A part that a crash cut off was never acknowledged; other data is lost. Check the disk.',
    );
  }

  lost(parts: number, reason: string): void {
    this.#lost.warn(parts, { reason }, 'Sampled items were acknowledged but later rejected permanently');
  }

  /** Called when the next consumer accepts nothing. */
  waits(error: unknown, heldRuns: number, waitMs: number): void {
    this.#behind.warn(
      0,
      { err: error, held_runs: heldRuns },
      `Could not pass on kept runs; retrying in ${Math.ceil(waitMs / MS_PER_SECOND)} s`,
    );
  }

  early(parts: number, cause: Cause): void {
    this.#early.warn(
      parts,
      { cause },
      'Decided runs early because the buffer is full; raise max_memory or max_disk_size, or reduce wait',
    );
  }

  diskFailed(error: unknown): void {
    this.#disk.warn(
      0,
      { err: error },
      'Cannot write the journal; batches are refused until it can be written',
    );
  }
}
