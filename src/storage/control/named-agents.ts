import { uuidV7 } from '../../signal/ids.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { type NamedAgent, type InternedAgent, OTHER_AGENTS } from '../contracts/coordination.js';

/** Names of agents as they are stored, and what becomes of them by runs that name some. */
export class NamedAgents {
  readonly #most: number;
  #last: number;
  readonly #agents = new Map<string, InternedAgent>();
  /** How many names users have, without `(other)`. */
  readonly #names = new Map<number, number>();
  readonly #added = new Set<string>();
  readonly #arisen = new Set<string>();

  /**
   * @param last the last number that was given
   * @param most names that a user may have
   */
  constructor(last: number, most: number, stored: readonly InternedAgent[]) {
    this.#last = last;
    this.#most = most;
    this.add(stored);
  }

  add(stored: readonly InternedAgent[]): void {
    for (const agent of stored) this.#agents.set(keyOf(agent), agent);
  }

  /** @param names all that the user has, without `(other)` */
  hasNames(tenant: number, names: number): void {
    this.#names.set(tenant, names);
  }

  /** Whose names are not all stored. */
  tenantsWithNewNames(runs: readonly NamedAgent[]): readonly number[] {
    return [...new Set(runs.flatMap((run) => (this.#agents.has(keyOf(run)) ? [] : run.tenant)))];
  }

  /** The agents of runs, as they are after the last one. */
  name(runs: readonly NamedAgent[]): readonly InternedAgent[] {
    const named = runs.map((run) => this.#nameOne(run));
    return named.map((agent) => this.#agents.get(keyOf(agent)) ?? agent);
  }

  /** Agents that are new, in the order of their numbers. */
  get added(): readonly InternedAgent[] {
    return this.#of(this.#added);
  }

  /** Others that came into being. */
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
