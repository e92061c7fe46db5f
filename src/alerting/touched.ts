/** What a batch brought that rules may be about. */
export interface Brought {
  /** The user's UUID, lower case. */
  readonly userId: string;
  /** The names of agents whose runs it may be about. */
  readonly agents: ReadonlySet<string>;
  readonly hasSpans: boolean;
  readonly hasPoints: boolean;
}

/** Agents that are kept apart; where batches bring more, everything counts as touched. */
const MOST_AGENTS = 10_000;

/** What batches have brought since somebody took it. */
export class Touched {
  readonly #agents = new Set<string>();
  readonly #spansOf = new Set<string>();
  readonly #pointsOf = new Set<string>();
  #isAll = false;

  add({ userId, agents, hasSpans, hasPoints }: Brought): void {
    for (const name of agents) this.#agents.add(agentKey(userId, name));
    if (hasSpans) this.#spansOf.add(userId);
    if (hasPoints) this.#pointsOf.add(userId);
    if (this.#agents.size <= MOST_AGENTS) return;
    this.#isAll = true;
    this.#agents.clear();
  }

  take(): TakenTouched {
    const taken = {
      isAll: this.#isAll,
      agents: [...this.#agents],
      spansOf: [...this.#spansOf],
      pointsOf: [...this.#pointsOf],
    };
    this.#isAll = false;
    for (const set of [this.#agents, this.#spansOf, this.#pointsOf]) set.clear();
    return taken;
  }
}

export interface TakenTouched {
  /** Whether it may be anything. */
  readonly isAll: boolean;
  /** As {@link agentKey}. */
  readonly agents: readonly string[];
  /** Users of whom spans came, and users of whom points came. */
  readonly spansOf: readonly string[];
  readonly pointsOf: readonly string[];
}

/** An agent of a user: its name is its own among the user's. */
export function agentKey(userId: string, name: string): string {
  return `${userId}/${name}`;
}
