import type { Clock, Logger } from '../../component/telemetry.js';
import { backoffMs, type RetryOptions } from '../../delivery/backoff.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { EventCursor } from '../../storage/event-store.js';

export interface ProgressTools {
  readonly save: (cursor: EventCursor) => Promise<void>;
  readonly retry: RetryOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Fires when what fails is not tried again. */
  readonly stop: AbortSignal;
}

/** Between the beginnings of two notes. Each is a commit: one for every page would be a good part of what a page costs. */
const INTERVAL_MS = 250;

/**
 * Notes how far a reader has come, while it reads on: nobody waits for that. There is one note at a time, of the newest
 * cursor, so that a kill lets come again what was handed on since the last of them.
 */
export class Progress {
  readonly #tools: ProgressTools;
  readonly #log: SparseLog;
  /** Null: no newer one has come than the one that is noted, or being noted. */
  #newest: EventCursor | null = null;
  #underWay: Promise<void> | null = null;

  constructor(tools: ProgressTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
  }

  /** At once, or as soon as the last note is long enough ago. After a stop there is no such wait. */
  note(cursor: EventCursor): void {
    this.#newest = cursor;
    this.#underWay ??= this.#run();
  }

  /** To be called after a stop. Resolves when all is noted, or was given up. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  async #run(): Promise<void> {
    const { clock, stop } = this.#tools;
    for (let cursor = this.#take(); cursor !== null; cursor = this.#take()) {
      const interval = pause(clock, INTERVAL_MS, stop);
      await this.#save(cursor);
      await interval;
    }
    // In the step in which all was found noted: what comes next begins anew.
    this.#underWay = null;
  }

  #take(): EventCursor | null {
    const newest = this.#newest;
    this.#newest = null;
    return newest;
  }

  async #save(newest: EventCursor): Promise<void> {
    const { save, retry, clock, stop } = this.#tools;
    let cursor = newest;
    for (let failures = 1; ; failures++) {
      try {
        await save(cursor);
        return;
      } catch (error) {
        const waitMs = backoffMs(retry, failures, 0, Math.random());
        this.#log.warn(
          0,
          { err: error, wait_ms: waitMs },
          stop.aborted
            ? 'Progress was not noted: events that were handed on come again at the next start'
            : 'Progress was not noted; it is tried again',
        );
        if (stop.aborted) return;
        await pause(clock, waitMs, stop);
        cursor = this.#take() ?? cursor;
      }
    }
  }
}
