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
  /** Fires when what fails is not tried again. */
  readonly stop: AbortSignal;
}

/** Between the beginnings of two notes. Each is a transaction: one for every page would be a good part of what a page costs. */
const INTERVAL_MS = 250;

/**
 * Notes how far a reader has come, while it reads on: nobody waits for that. There is one note at a time, of the newest
 * position, so that a kill lets come again what was handed on since the last of them.
 */
export class Progress {
  readonly #tools: ProgressTools;
  readonly #log: SparseLog;
  /** Null: no newer one has come than the one that is noted, or being noted. */
  #newest: EventPosition | null = null;
  #underWay: Promise<void> | null = null;

  constructor(tools: ProgressTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
  }

  /** At once, or as soon as the last note is long enough ago. After a stop there is no such wait. */
  note(position: EventPosition): void {
    this.#newest = position;
    this.#underWay ??= this.#run();
  }

  /** To be called after a stop. Resolves when all is noted, or was given up. */
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
    // In the step in which all was found noted: what comes next begins anew.
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
