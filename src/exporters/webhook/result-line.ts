import type { Clock } from '../../component/telemetry.js';
import type { DeliveryStore, FinishedAttempt } from '../../storage/delivery-store.js';
import { pause } from './pause.js';
import type { StoreCalls } from './store-calls.js';

/** How long the first result of a group waits for more where more are under way: a commit costs more than that. */
const GATHER_MS = 3;

export interface ResultLineTools {
  readonly store: Pick<DeliveryStore, 'finishDeliveries'>;
  readonly calls: StoreCalls;
  readonly clock: Clock;
  readonly breakerThreshold: number;
  /** Whether attempts are under way that have no result yet. */
  readonly expectsMore: () => boolean;
  /** Told the ids of endpoints that were paused. */
  readonly onPaused: (endpoints: readonly string[]) => void;
  /** Fires when the store is asked for the last time. */
  readonly end: AbortSignal;
}

interface Entry {
  readonly finished: FinishedAttempt;
  readonly done: () => void;
}

/** Records results in groups: what comes while the store writes goes together in the next transaction. */
export class ResultLine {
  readonly #tools: ResultLineTools;
  #waiting: Entry[] = [];
  #isWriting = false;

  constructor(tools: ResultLineTools) {
    this.#tools = tools;
  }

  /** Resolves when the result is recorded, or was given up at the end. */
  async record(finished: FinishedAttempt): Promise<void> {
    await new Promise<void>((done) => {
      this.#waiting.push({ finished, done });
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      await this.#gather();
      const group = this.#waiting;
      this.#waiting = [];
      await this.#finish(group.map(({ finished }) => finished));
      for (const { done } of group) done();
    }
    this.#isWriting = false;
  }

  async #finish(finished: readonly FinishedAttempt[]): Promise<void> {
    const { store, calls, clock, breakerThreshold, onPaused, end } = this.#tools;
    const paused = await calls.ask('finish', end, () =>
      store.finishDeliveries(finished, { now: clock.now(), breakerThreshold }),
    );
    if (paused !== undefined && paused.length > 0) onPaused(paused);
  }

  async #gather(): Promise<void> {
    const { expectsMore, clock, end } = this.#tools;
    if (expectsMore()) await pause(clock, GATHER_MS, end);
  }
}
