import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../component/telemetry.js';
import { MICROS_PER_SECOND } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';
import { inLowerCase } from '../../shared/agents-in-order.js';
import type { NamedAgent, InternedAgent, InternedAgents } from '../../contracts/coordination.js';

/** Size of the cache of users. */
const REMEMBERED = 1000;
/** Maximum delay until agents interned by other processes are visible. */
const MOST_AGE: Micros = 2 * MICROS_PER_SECOND;

/** An agent that exists because a run certainly belongs to it. */
export interface KnownAgent extends InternedAgent {
  readonly created_at: Micros;
}

/** A snapshot of one user's agent names. */
export class AgentsOfUser {
  readonly #byNumber: Map<number, InternedAgent>;

  constructor(agents: readonly InternedAgent[]) {
    this.#byNumber = new Map(agents.map((agent) => [agent.number, agent]));
  }

  /** @returns undefined if another process interned it after this snapshot */
  byNumber(number: number): InternedAgent | undefined {
    return this.#byNumber.get(number);
  }

  byId(id: string): InternedAgent | undefined {
    const wanted = id.toLowerCase();
    return this.all().find((agent) => agent.id === wanted);
  }

  all(): InternedAgent[] {
    return [...this.#byNumber.values()];
  }

  /** The agents that exist. */
  known(): KnownAgent[] {
    return this.all().filter(isKnown);
  }

  /** Agents whose names contain a text, ignoring case. */
  matching(text: string): InternedAgent[] {
    const wanted = inLowerCase(text);
    return this.all().filter((agent) => inLowerCase(agent.name).includes(wanted));
  }

  put(agent: InternedAgent): void {
    this.#byNumber.set(agent.number, agent);
  }
}

export function isKnown(agent: InternedAgent | undefined): agent is KnownAgent {
  return agent !== undefined && agent.created_at !== null;
}

interface Remembered {
  readonly agents: AgentsOfUser;
  readonly askedAt: Micros;
}

/** A cache of agent names: agents interned by this process are visible immediately, those of other processes within seconds. */
export class AgentNames implements Pick<InternedAgents, 'number'> {
  readonly #numbered: InternedAgents;
  readonly #store: string;
  readonly #clock: Clock;
  readonly #users = new LRUCache<number, Remembered>({ max: REMEMBERED });

  /** @param store the identity of the telemetry store */
  constructor(numbered: InternedAgents, store: string, clock: Clock) {
    this.#numbered = numbered;
    this.#store = store;
    this.#clock = clock;
  }

  async number(store: string, runs: readonly NamedAgent[], most: number): Promise<readonly InternedAgent[]> {
    if (runs.length === 0) return [];
    const agents = await this.#numbered.number(store, runs, most);
    for (const agent of agents) this.#users.get(agent.tenant)?.agents.put(agent);
    return agents;
  }

  /** @param numbers numbers in rows that the result must contain */
  async of(tenant: number, numbers: Iterable<number> = []): Promise<AgentsOfUser> {
    const known = this.#users.get(tenant);
    if (known !== undefined && this.#isFresh(known) && hasAll(known.agents, numbers)) return known.agents;
    const askedAt = this.#clock.now();
    const agents = new AgentsOfUser(await this.#numbered.ofTenant(this.#store, tenant));
    this.#users.set(tenant, { agents, askedAt });
    return agents;
  }

  #isFresh({ askedAt }: Remembered): boolean {
    const age = this.#clock.now() - askedAt;
    return age >= 0 && age < MOST_AGE;
  }
}

function hasAll(agents: AgentsOfUser, numbers: Iterable<number>): boolean {
  for (const number of numbers) if (agents.byNumber(number) === undefined) return false;
  return true;
}
