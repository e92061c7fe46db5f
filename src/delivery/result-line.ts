import type { Clock } from '../component/telemetry.js';
import { pause } from './pause.js';

/** How long the first result of a group waits for more where more are under way: a commit costs more than that. */
const GATHER_MS = 3;

export interface ResultLineTools<Result> {
  /** Records a group. Resolves when that is done, or was given up at the end. */
  readonly write: (results: readonly Result[]) => Promise<void>;
  readonly clock: Clock;
  /** Whether attempts are under way that have no result yet. */
  readonly expectsMore: () => boolean;
  /** Fires when nobody waits for more. */
  readonly end: AbortSignal;
}

interface Entry<Result> {
  readonly result: Result;
  readonly done: () => void;
}

/** Records results in groups: what comes while the store writes goes together in the next transaction. */
export class ResultLine<Result> {
  readonly #tools: ResultLineTools<Result>;
  #waiting: Entry<Result>[] = [];
  #isWriting = false;

  constructor(tools: ResultLineTools<Result>) {
    this.#tools = tools;
  }

  /** Resolves when the result is recorded, or was given up at the end. */
  async record(result: Result): Promise<void> {
    await new Promise<void>((done) => {
      this.#waiting.push({ result, done });
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      await this.#gather();
      const group = this.#waiting;
      this.#waiting = [];
      await this.#tools.write(group.map(({ result }) => result));
      for (const { done } of group) done();
    }
    this.#isWriting = false;
  }

  async #gather(): Promise<void> {
    const { expectsMore, clock, end } = this.#tools;
    if (expectsMore()) await pause(clock, GATHER_MS, end);
  }
}
