import type { Clock, Logger } from '../../../component/telemetry.js';
import type { Damage } from '../../../delivery/queue/disk/segment.js';
import { MS_PER_SECOND } from '../../../signal/time-units.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import type { Cause } from './metrics.js';

/** What a tail sampler logs: each at most once in ten seconds. */
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
      'A part of the journal cannot be read and was passed over: what a crash cut off while it was written was never acknowledged, anything else is lost; look at the disk',
    );
  }

  lost(parts: number, reason: string): void {
    this.#lost.warn(parts, { reason }, 'What was kept and acknowledged was refused for good');
  }

  /** What stands behind takes nothing. */
  waits(error: unknown, heldRuns: number, waitMs: number): void {
    this.#behind.warn(
      0,
      { err: error, held_runs: heldRuns },
      `Kept runs could not be passed on; the next attempt comes in ${Math.ceil(waitMs / MS_PER_SECOND)} s`,
    );
  }

  early(parts: number, cause: Cause): void {
    this.#early.warn(
      parts,
      { cause },
      'Runs were decided before their end, to make room; raise max_memory or max_disk_size, or wait for less time',
    );
  }

  diskFailed(error: unknown): void {
    this.#disk.warn(0, { err: error }, 'The journal cannot be written: nothing is taken until it can');
  }
}
