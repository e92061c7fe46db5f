import type { Clock } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';

/**
 * How long the first result of a group waits for more while other attempts are running, because a commit costs more than that. Under
 * load it waits as long as the last group took to write, since commits compete with other work: groups of 60 ms instead of 3 halve
 * their number.
 */
const GATHER_MS = { least: 3, most: 60 };

export interface ResultGroupsTools<Result> {
  /** Records a group. Resolves when it is recorded, or abandoned at the end. */
  readonly write: (results: readonly Result[]) => Promise<void>;
  readonly clock: Clock;
  /** Whether attempts are running that have no result yet. */
  readonly expectsMore: () => boolean;
  /** Aborted when no more results are awaited. */
  readonly end: AbortSignal;
}

interface Entry<Result> {
  readonly result: Result;
  readonly done: () => void;
}

/** Records results in groups: results that arrive during a write share the next transaction. */
export class ResultGroups<Result> {
  readonly #tools: ResultGroupsTools<Result>;
  #waiting: Entry<Result>[] = [];
  #isWriting = false;
  /** Ends the wait for more. */
  #gathering: AbortController | null = null;
  /** How long the last group took. */
  #lastMs = 0;

  constructor(tools: ResultGroupsTools<Result>) {
    this.#tools = tools;
  }

  /** Resolves when the result is recorded, or abandoned at the end. */
  async record(result: Result): Promise<void> {
    await new Promise<void>((done) => {
      this.#waiting.push({ result, done });
      if (!this.#isWriting) void this.#write();
      else if (!this.#tools.expectsMore()) this.#gathering?.abort();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      await this.#gather();
      const group = this.#waiting;
      this.#waiting = [];
      const begun = this.#tools.clock.now();
      await this.#tools.write(group.map(({ result }) => result));
      this.#lastMs = (this.#tools.clock.now() - begun) / 1000;
      for (const { done } of group) done();
    }
    this.#isWriting = false;
  }

  async #gather(): Promise<void> {
    const { expectsMore, clock, end } = this.#tools;
    const waitMs = Math.min(GATHER_MS.most, Math.max(GATHER_MS.least, this.#lastMs));
    if (!expectsMore()) return;
    this.#gathering = new AbortController();
    await pause(clock, waitMs, this.#gathering.signal, end);
    this.#gathering = null;
  }
}
