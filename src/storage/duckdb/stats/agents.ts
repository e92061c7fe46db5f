import { uuidV7 } from '../../../signal/ids.js';
import { itemAt } from '../../../signal/checked.js';
import { RUN_KINDS, type RunKind } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import { OTHER_AGENTS } from '../../contracts/coordination.js';
import { selectList } from '../../schema/table.js';
import { inLowerCase } from '../../shared/agents-in-order.js';
import { AGENTS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/**
 * A name under which runs of one kind are counted. Runs of kind `other` have a separate number from the agent of the same name,
 * so that all sums, lists and stats of an agent cover only its own runs. The id is the same, so that a run whose kind is
 * determined later keeps its id.
 */
export interface Agent {
  /** Telemetry rows have this number instead of name and kind. */
  readonly agent_no: number;
  readonly id: string;
  readonly name: string;
  readonly kind: RunKind;
  /**
   * When the agent was created. Null while only runs name it whose agent may still change (`src/runs/README.md`, "Runs that
   * nobody declared"), and always for the kind `other`.
   */
  readonly created_at: Micros | null;
  readonly tenant: number;
}

/** The values of a run that {@link Agents.named} needs. */
export interface NamedRun {
  readonly name: string;
  /** A position in `RUN_KINDS`. */
  readonly kind: number;
  /** When the run was received. */
  readonly at: Micros;
  /** Whether the run certainly belongs to the agent, which creates the agent. */
  readonly isCertain: boolean;
}

/** The agents with one name, by position in `RUN_KINDS`. */
type Namesakes = readonly (Agent | undefined)[];

/** An agent that has been created. */
export interface KnownAgent extends Agent {
  readonly created_at: Micros;
}

export interface AgentLimit {
  /** Maximum agent names of a user, including unused ones, in addition to `(other)`. */
  readonly most: number;
  /** Called for every header that is written with `(other)` in place of an agent's name. */
  readonly passed: (tenant: number) => void;
}

/** Every agent of every user, in memory, at some 300 bytes each, because every run names one. */
export class Agents {
  /** By user, then by name. */
  readonly #tenants = new Map<number, Map<string, Namesakes>>();
  readonly #byId = new Map<string, Agent>();
  readonly #byNumber = new Map<number, Agent>();
  /** Agents that were added or created since `begin`, by number: as they are now, and as they were. */
  readonly #added = new Map<number, { readonly now: Agent; readonly before: Agent | undefined }>();
  readonly #limit: AgentLimit;
  #lastNumber = 0;

  constructor(limit: AgentLimit) {
    this.#limit = limit;
  }

  async load(connection: Connection, capture: Capture): Promise<void> {
    this.#lastNumber = capture.lastNumber;
    const rows = await connection.rows(
      `SELECT tenant, ${selectList(AGENTS.wire)} FROM ${relation(capture, AGENTS)} ORDER BY seq`,
    );
    for (const row of rows) {
      this.#put({
        agent_no: Number(row.agent_no),
        id: String(row.id),
        name: String(row.name),
        kind: itemAt(RUN_KINDS, Number(row.kind)),
        created_at: row.created_at === null ? null : Number(row.created_at),
        tenant: Number(row.tenant),
      });
    }
  }

  /** An agent that has been created. */
  byId(tenant: number, id: string): KnownAgent | undefined {
    return this.namedById(tenant, id).find(isKnown);
  }

  /** The agents with an id, of both kinds, even if not created yet. */
  namedById(tenant: number, id: string): readonly Agent[] {
    const agent = this.#byId.get(id);
    return agent?.tenant === tenant ? this.#named(tenant, agent.name).filter(isThere) : [];
  }

  /** A created agent, by its exact name. */
  byName(tenant: number, name: string): KnownAgent | undefined {
    return this.#named(tenant, name).filter(isThere).find(isKnown);
  }

  byNumber(agentNo: number): Agent | undefined {
    return this.#byNumber.get(agentNo);
  }

  /** All agents of a user whose name contains the text, ignoring case. */
  matching(tenant: number, text: string): Agent[] {
    const wanted = inLowerCase(text);
    return [...this.ofTenant(tenant)].filter((agent) => inLowerCase(agent.name).includes(wanted));
  }

  /** All agents of a user, of both kinds, even if not created yet. */
  *ofTenant(tenant: number): Iterable<Agent> {
    for (const namesakes of this.#tenants.get(tenant)?.values() ?? []) yield* namesakes.filter(isThere);
  }

  /** The agent that a run counts under, added if new; `(other)` if the user is at the limit of names. */
  named(tenant: number, run: NamedRun): Agent {
    const { name, kind: code, at } = run;
    const kind = itemAt(RUN_KINDS, code);
    const namesakes = this.#named(tenant, name);
    const before = namesakes[code];
    const comesIntoBeing = run.isCertain && kind === 'agent';
    if (before !== undefined && (before.created_at !== null || !comesIntoBeing)) return before;
    if (before === undefined && this.nameFor(tenant, name) !== name) {
      this.#limit.passed(tenant);
      return this.named(tenant, { ...run, name: OTHER_AGENTS });
    }
    const agent = {
      agent_no: before?.agent_no ?? this.#lastNumber + 1,
      id: namesakes.find(isThere)?.id ?? uuidV7(Math.floor(at / 1000)),
      name,
      kind,
      created_at: comesIntoBeing ? at : null,
      tenant,
    };
    this.#put(agent);
    const added = this.#added.get(agent.agent_no);
    this.#added.set(agent.agent_no, { now: agent, before: added === undefined ? before : added.before });
    return agent;
  }

  /** Adds an agent of another store unchanged, regardless of the limit. Its number must be free. */
  restore(agent: Agent): void {
    this.#put(agent);
  }

  /** The name under which {@link named} finds or adds an agent. */
  nameFor(tenant: number, name: string): string {
    const known = this.#tenants.get(tenant);
    const hasRoom = (known?.size ?? 0) < this.#limit.most;
    return hasRoom || name === OTHER_AGENTS || known?.has(name) ? name : OTHER_AGENTS;
  }

  /** Agents that were added or created since the last `begin`; the commit has to write them. */
  get added(): readonly Agent[] {
    return [...this.#added.values()].map(({ now }) => now);
  }

  begin(): void {
    this.#added.clear();
  }

  /** Undoes the changes of agents since `begin`, because their commit failed. */
  rollback(): void {
    for (const { now, before } of this.#added.values()) {
      if (before !== undefined) this.#put(before);
      else this.#remove(now);
    }
    this.#added.clear();
  }

  #named(tenant: number, name: string): Namesakes {
    return this.#tenants.get(tenant)?.get(name) ?? [];
  }

  #put(agent: Agent): void {
    let ofTenant = this.#tenants.get(agent.tenant);
    if (ofTenant === undefined) {
      ofTenant = new Map();
      this.#tenants.set(agent.tenant, ofTenant);
    }
    const namesakes = [...(ofTenant.get(agent.name) ?? [])];
    namesakes[RUN_KINDS.indexOf(agent.kind)] = agent;
    ofTenant.set(agent.name, namesakes);
    this.#byId.set(agent.id, agent);
    this.#byNumber.set(agent.agent_no, agent);
    this.#lastNumber = Math.max(this.#lastNumber, agent.agent_no);
  }

  #remove(agent: Agent): void {
    this.#byNumber.delete(agent.agent_no);
    const ofTenant = this.#tenants.get(agent.tenant);
    const left = this.#named(agent.tenant, agent.name).map((one) => (one === agent ? undefined : one));
    const other = left.find(isThere);
    if (other === undefined) {
      ofTenant?.delete(agent.name);
      this.#byId.delete(agent.id);
    } else {
      ofTenant?.set(agent.name, left);
      this.#byId.set(other.id, other);
    }
  }
}

function isThere(agent: Agent | undefined): agent is Agent {
  return agent !== undefined;
}

export function isKnown(agent: Agent): agent is KnownAgent {
  return agent.created_at !== null;
}
