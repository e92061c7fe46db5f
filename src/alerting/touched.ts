/** The users, agents and metrics in a batch that rules may depend on. */
export interface TouchedData {
  /** The user's UUID, lower case. */
  readonly userId: string;
  /** The names of agents whose runs it may contain. */
  readonly agents: ReadonlySet<string>;
  readonly hasSpans: boolean;
  readonly hasPoints: boolean;
}

/** Maximum number of distinct agents; with more, everything counts as touched. */
const MOST_AGENTS = 10_000;

/** Data that arrived since the last take. */
export class Touched {
  readonly #agents = new Set<string>();
  readonly #runsOf = new Set<string>();
  readonly #spansOf = new Set<string>();
  readonly #pointsOf = new Set<string>();
  #isAll = false;

  add({ userId, agents, hasSpans, hasPoints }: TouchedData): void {
    for (const name of agents) this.#agents.add(agentKey(userId, name));
    if (agents.size > 0) this.#runsOf.add(userId);
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
      runsOf: [...this.#runsOf],
      spansOf: [...this.#spansOf],
      pointsOf: [...this.#pointsOf],
    };
    this.#isAll = false;
    for (const set of [this.#agents, this.#runsOf, this.#spansOf, this.#pointsOf]) set.clear();
    return taken;
  }
}

export interface TakenTouched {
  /** Whether any data may be affected. */
  readonly isAll: boolean;
  /** Made by {@link agentKey}. */
  readonly agents: readonly string[];
  /** Users with new runs, with new spans, and with new points. */
  readonly runsOf: readonly string[];
  readonly spansOf: readonly string[];
  readonly pointsOf: readonly string[];
}

/** A key for an agent, whose name is unique among those of its user. */
export function agentKey(userId: string, name: string): string {
  return `${userId}/${name}`;
}
