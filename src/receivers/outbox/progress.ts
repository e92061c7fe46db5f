import type { Clock, Logger } from '../../component/telemetry.js';
import { backoffMs } from '../../delivery/backoff.js';
import type { RetryOptions } from '../../delivery/config.js';
import { pause } from '../../delivery/pause.js';
import { SparseLog } from '../../delivery/sparse-log.js';
import type { EventCursor } from '../../storage/event-store.js';

export interface ProgressTools {
  readonly save: (cursor: EventCursor) => Promise<void>;
  readonly retry: RetryOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Fires when what fails is not tried again. */
  readonly stop: AbortSignal;
}

/**
 * Notes how far a reader has come, while it reads on: a note is a commit, for which nobody has to wait. There is one at a
 * time, so that what a kill lets come again is two pages at most.
 */
export class Progress {
  readonly #tools: ProgressTools;
  readonly #log: SparseLog;
  #underWay: Promise<void> = Promise.resolve();

  constructor(tools: ProgressTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
  }

  /** Resolves when the note before is made, and this one is under way. */
  async note(cursor: EventCursor): Promise<void> {
    await this.#underWay;
    this.#underWay = this.#save(cursor);
  }

  /** Resolves when all is noted, or was given up at a stop. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  async #save(cursor: EventCursor): Promise<void> {
    const { save, retry, clock, stop } = this.#tools;
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
      }
    }
  }
}
