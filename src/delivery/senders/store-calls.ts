import type { Clock, Logger } from '../../component/telemetry.js';
import { backoffMs, type RetryOptions } from '../backoff.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';

/** Calls of a sender to its store. */
type StoreWork = 'claim' | 'finish';

const RETRY: RetryOptions = {
  isEnabled: true,
  initialMs: 250,
  maxMs: 30_000,
  multiplier: 2,
  jitter: 0.5,
  maxElapsedMs: 0,
};

export interface StoreCallTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Name of the sent items, for the log: `webhooks`. */
  readonly sent: string;
  /** Called when the store begins to fail, and when everything works again. */
  readonly onStore: (isFailing: boolean) => void;
}

/** Retries calls to the store until they succeed. */
export class StoreCalls {
  readonly #tools: StoreCallTools;
  readonly #log: SparseLog;
  readonly #failing = new Set<StoreWork>();

  constructor(tools: StoreCallTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
  }

  /**
   * Runs the work at least once, and retries after each failure.
   *
   * @param end aborted to stop retrying
   * @returns undefined if it was abandoned
   */
  async ask<T>(what: StoreWork, end: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    for (let failures = 1; ; failures++) {
      try {
        const answer = await work();
        this.#worked(what);
        return answer;
      } catch (error) {
        const waitMs = backoffMs(RETRY, failures, 0, this.#tools.random());
        this.#failed(what, error, end.aborted ? null : waitMs);
        await pause(this.#tools.clock, waitMs, end);
        if (end.aborted) return undefined;
      }
    }
  }

  #worked(what: StoreWork): void {
    if (this.#failing.delete(what) && this.#failing.size === 0) this.#tools.onStore(false);
  }

  #failed(what: StoreWork, error: unknown, waitMs: number | null): void {
    const { sent } = this.#tools;
    this.#log.warn(
      0,
      { err: error, work: what, wait_ms: waitMs },
      waitMs === null
        ? `The store failed while the sender of ${sent} stopped: unrecorded attempts will be repeated`
        : `The store failed on a request of the sender of ${sent}; retrying`,
    );
    if (this.#failing.size === 0) this.#tools.onStore(true);
    this.#failing.add(what);
  }
}
