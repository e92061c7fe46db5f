import type { CountedRun, RunChanges } from '../run-figures.js';

/** Agents, and tenants, by their numbers. */
interface Taken {
  readonly agentNos: readonly number[];
  /** Of whose runs something came. */
  readonly spansOf: readonly number[];
  readonly pointsOf: readonly number[];
}

/**
 * What commits have touched since somebody asked. Whoever watches is told once, and then not before it has been taken: a
 * notice for each commit would be thousands a second. While nobody watches nothing is kept.
 */
export class TouchedNumbers implements RunChanges {
  readonly #agents = new Set<number>();
  readonly #spansOf = new Set<number>();
  readonly #pointsOf = new Set<number>();
  readonly #tell: () => void;
  #isWatched = false;
  /** Whether it was told, or is about to be. */
  #isTold = false;

  /** @param tell called when there is something to take, after the commit that it comes from can be read */
  constructor(tell: () => void) {
    this.#tell = tell;
  }

  /** From here on it keeps what is touched. What somebody else has not taken is told again. */
  watch(): void {
    this.#isWatched = true;
    this.#isTold = false;
    if (this.#agents.size + this.#pointsOf.size > 0) this.#tellSoon();
  }

  change(before: CountedRun | null, after: CountedRun): void {
    if (!this.#isWatched) return;
    // A run may leave an agent, whose figures change as well.
    if (before !== null) this.#agents.add(before.agentNo);
    this.#agents.add(after.agentNo);
    this.#spansOf.add(after.tenant);
    this.#tellSoon();
  }

  /** A commit of metric points. */
  points(tenant: number): void {
    if (!this.#isWatched) return;
    this.#pointsOf.add(tenant);
    this.#tellSoon();
  }

  take(): Taken {
    this.#isWatched = true;
    this.#isTold = false;
    const taken = { agentNos: [...this.#agents], spansOf: [...this.#spansOf], pointsOf: [...this.#pointsOf] };
    for (const set of [this.#agents, this.#spansOf, this.#pointsOf]) set.clear();
    return taken;
  }

  #tellSoon(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    // Memory is told of a commit in the step in which it becomes visible: after that step it is.
    queueMicrotask(this.#tell);
  }
}
