import type { Clock, Logger } from '../../component/telemetry.js';
import { backoffMs, type RetryOptions } from '../../delivery/backoff.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { EventPosition } from '../../storage/contracts/events.js';

export interface ProgressTools {
  readonly save: (position: EventPosition) => Promise<void>;
  readonly retry: RetryOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when failures are no longer retried. */
  readonly stop: AbortSignal;
}

/** Minimum interval between the starts of two saves. Each is a transaction; one per page would be a large part of a page's cost. */
const INTERVAL_MS = 250;

/**
 * Saves a reader's progress in the background. One save runs at a time, with the newest position; after a kill, batches passed on
 * since the last save are repeated.
 */
export class Progress {
  readonly #tools: ProgressTools;
  readonly #log: SparseLog;
  /** The newest position that is not being saved yet; null if missing. */
  #newest: EventPosition | null = null;
  #underWay: Promise<void> | null = null;

  constructor(tools: ProgressTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
  }

  /** Saves a position immediately, or after the minimum interval since the last save. After a stop there is no interval. */
  note(position: EventPosition): void {
    this.#newest = position;
    this.#underWay ??= this.#run();
  }

  /** Call after a stop. Resolves when the progress is saved, or abandoned. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  async #run(): Promise<void> {
    const { clock, stop } = this.#tools;
    for (let position = this.#take(); position !== null; position = this.#take()) {
      const interval = pause(clock, INTERVAL_MS, stop);
      await this.#save(position);
      await interval;
    }
    // Reset in the step that found everything saved: the next position starts a new save.
    this.#underWay = null;
  }

  #take(): EventPosition | null {
    const newest = this.#newest;
    this.#newest = null;
    return newest;
  }

  async #save(newest: EventPosition): Promise<void> {
    const { save, retry, clock, stop } = this.#tools;
    let position = newest;
    for (let failures = 1; ; failures++) {
      try {
        await save(position);
        return;
      } catch (error) {
        const waitMs = backoffMs(retry, failures, 0, Math.random());
        this.#log.warn(
          0,
          { err: error, wait_ms: waitMs },
          stop.aborted
            ? 'Could not store the position; processed events are sent again after the next start'
            : 'Could not store the position; retrying',
        );
        if (stop.aborted) return;
        await pause(clock, waitMs, stop);
        position = this.#take() ?? position;
      }
    }
  }
}
