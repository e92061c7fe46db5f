import { uuidV7 } from '../../signal/ids.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { type NamedAgent, type InternedAgent, OTHER_AGENTS } from '../contracts/coordination.js';

/** Stored agent names, and the changes that runs cause to them. */
export class NamedAgents {
  readonly #most: number;
  #last: number;
  readonly #agents = new Map<string, InternedAgent>();
  /** Number of names of users, without `(other)`. */
  readonly #names = new Map<number, number>();
  readonly #added = new Set<string>();
  readonly #arisen = new Set<string>();

  /** @param last the last assigned number @param most maximum number of names per user */
  constructor(last: number, most: number, stored: readonly InternedAgent[]) {
    this.#last = last;
    this.#most = most;
    this.add(stored);
  }

  add(stored: readonly InternedAgent[]): void {
    for (const agent of stored) this.#agents.set(keyOf(agent), agent);
  }

  /** @param names number of the user's names, without `(other)` */
  hasNames(tenant: number, names: number): void {
    this.#names.set(tenant, names);
  }

  /** Users with names that are not stored yet. */
  tenantsWithNewNames(runs: readonly NamedAgent[]): readonly number[] {
    return [...new Set(runs.flatMap((run) => (this.#agents.has(keyOf(run)) ? [] : run.tenant)))];
  }

  /** The agents of runs, in their state after the last run. */
  name(runs: readonly NamedAgent[]): readonly InternedAgent[] {
    const named = runs.map((run) => this.#nameOne(run));
    return named.map((agent) => this.#agents.get(keyOf(agent)) ?? agent);
  }

  /** New agents, ordered by number. */
  get added(): readonly InternedAgent[] {
    return this.#of(this.#added);
  }

  /** Existing names that became agents. */
  get arisen(): readonly InternedAgent[] {
    return this.#of(this.#arisen);
  }

  get hasChanged(): boolean {
    return this.#added.size + this.#arisen.size > 0;
  }

  #nameOne(run: NamedAgent): InternedAgent {
    const { tenant, name, at, comesIntoBeing } = run;
    const key = keyOf(run);
    const known = this.#agents.get(key);
    if (known !== undefined) {
      if (known.created_at !== null || !comesIntoBeing) return known;
      const arisen = { ...known, created_at: at };
      this.#agents.set(key, arisen);
      if (!this.#added.has(key)) this.#arisen.add(key);
      return arisen;
    }
    const names = this.#names.get(tenant) ?? 0;
    if (name !== OTHER_AGENTS) {
      if (names >= this.#most) return this.#nameOne({ ...run, name: OTHER_AGENTS });
      this.#names.set(tenant, names + 1);
    }
    const agent: InternedAgent = {
      ...{ tenant, number: ++this.#last, id: uuidV7(Math.floor(at / MICROS_PER_MS)), name },
      created_at: comesIntoBeing ? at : null,
    };
    this.#agents.set(key, agent);
    this.#added.add(key);
    return agent;
  }

  #of(keys: Iterable<string>): readonly InternedAgent[] {
    return [...keys].flatMap((key) => this.#agents.get(key) ?? []);
  }
}

function keyOf({ tenant, name }: { readonly tenant: number; readonly name: string }): string {
  return `${String(tenant)} ${name}`;
}
