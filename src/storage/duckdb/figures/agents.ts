import { uuidV7 } from '../../../signal/ids.js';
import type { Micros } from '../../../signal/time.js';
import { selectList } from '../../table.js';
import { AGENTS } from '../../tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';

export interface Agent {
  /** What telemetry rows carry in place of the id. */
  readonly agent_no: number;
  readonly id: string;
  readonly name: string;
  /**
   * When the agent came into being. Null while it is only named by runs whose agent may still turn out to be another one
   * (`src/runs/README.md`, "Runs that nobody declared").
   */
  readonly created_at: Micros | null;
  readonly tenant: number;
}

/** An agent that has come into being. */
export interface KnownAgent extends Agent {
  readonly created_at: Micros;
}

/** The agent under which runs are counted when their user has no room for the agent that they name. */
const OTHER_AGENTS = '(other)';

export interface AgentLimit {
  /** Agents of a user, including those that no run names any more; `(other)` comes on top. */
  readonly most: number;
  /** Called for every header that is written with `(other)` in place of an agent's name. */
  readonly passed: (tenant: number) => void;
}

/** Every agent of every user, in memory, at some 300 bytes each: every run names one. */
export class Agents {
  /** By user, then by name. */
  readonly #tenants = new Map<number, Map<string, Agent>>();
  readonly #byId = new Map<string, Agent>();
  readonly #byNumber = new Map<number, Agent>();
  /** Agents that were added or came into being since `begin`, by number: as they are now, and as they were. */
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
        created_at: row.created_at === null ? null : Number(row.created_at),
        tenant: Number(row.tenant),
      });
    }
  }

  /** An agent that has come into being. */
  byId(tenant: number, id: string): KnownAgent | undefined {
    const agent = this.namedById(tenant, id);
    return agent !== undefined && isKnown(agent) ? agent : undefined;
  }

  /** An agent that any run names. */
  namedById(tenant: number, id: string): Agent | undefined {
    const agent = this.#byId.get(id);
    return agent?.tenant === tenant ? agent : undefined;
  }

  /** An agent that has come into being, by its exact name. */
  byName(tenant: number, name: string): KnownAgent | undefined {
    const agent = this.#tenants.get(tenant)?.get(name);
    return agent !== undefined && isKnown(agent) ? agent : undefined;
  }

  byNumber(agentNo: number): Agent | undefined {
    return this.#byNumber.get(agentNo);
  }

  /** The user's agents whose names contain the text, in any case. */
  matching(tenant: number, text: string): Agent[] {
    const wanted = inLowerCase(text);
    return [...this.ofTenant(tenant)].filter((agent) => inLowerCase(agent.name).includes(wanted));
  }

  /** All agents of a user that any run names. */
  ofTenant(tenant: number): Iterable<Agent> {
    return this.#tenants.get(tenant)?.values() ?? [];
  }

  /**
   * The agent of that name, which is added where the name is new; `(other)` where the user has no room for it.
   *
   * @param isCertain whether the run certainly belongs to the agent, so that the agent comes into being
   */
  named(tenant: number, name: string, now: Micros, isCertain: boolean): Agent {
    const before = this.#tenants.get(tenant)?.get(name);
    if (before !== undefined && (before.created_at !== null || !isCertain)) return before;
    if (before === undefined && this.nameFor(tenant, name) !== name) {
      this.#limit.passed(tenant);
      return this.named(tenant, OTHER_AGENTS, now, isCertain);
    }
    const agent = {
      agent_no: before?.agent_no ?? this.#lastNumber + 1,
      id: before?.id ?? uuidV7(Math.floor(now / 1000)),
      name,
      created_at: isCertain ? now : null,
      tenant,
    };
    this.#put(agent);
    const added = this.#added.get(agent.agent_no);
    this.#added.set(agent.agent_no, { now: agent, before: added === undefined ? before : added.before });
    return agent;
  }

  /** The name under which {@link named} finds or adds an agent. */
  nameFor(tenant: number, name: string): string {
    const known = this.#tenants.get(tenant);
    const hasRoom = (known?.size ?? 0) < this.#limit.most;
    return hasRoom || name === OTHER_AGENTS || known?.has(name) ? name : OTHER_AGENTS;
  }

  /** Agents that were added or came into being since the last `begin`, which the commit has to write. */
  get added(): readonly Agent[] {
    return [...this.#added.values()].map(({ now }) => now);
  }

  begin(): void {
    this.#added.clear();
  }

  /** Undoes what happened to agents since `begin`, because their commit failed. */
  rollback(): void {
    for (const { now, before } of this.#added.values()) {
      if (before !== undefined) this.#put(before);
      else {
        this.#tenants.get(now.tenant)?.delete(now.name);
        this.#byId.delete(now.id);
        this.#byNumber.delete(now.agent_no);
      }
    }
    this.#added.clear();
  }

  #put(agent: Agent): void {
    let ofTenant = this.#tenants.get(agent.tenant);
    if (ofTenant === undefined) {
      ofTenant = new Map();
      this.#tenants.set(agent.tenant, ofTenant);
    }
    ofTenant.set(agent.name, agent);
    this.#byId.set(agent.id, agent);
    this.#byNumber.set(agent.agent_no, agent);
    this.#lastNumber = Math.max(this.#lastNumber, agent.agent_no);
  }
}

export function isKnown(agent: Agent): agent is KnownAgent {
  return agent.created_at !== null;
}

/** Letter by letter, so that a part of a name stays a part of it: at the end of a word a sigma would get another form. */
function inLowerCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
