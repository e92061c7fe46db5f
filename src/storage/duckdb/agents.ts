import { uuidV7 } from '../../signal/ids.js';
import type { Micros } from '../../signal/time.js';
import { AGENTS, selectList } from '../tables.js';
import type { Connection } from './database.js';
import { relation } from './relation.js';
import type { Capture } from './segments.js';

export interface Agent {
  /** What telemetry rows carry instead of the id. */
  readonly agent_no: number;
  readonly id: string;
  readonly name: string;
  readonly created_at: Micros;
  readonly tenant: number;
}

/** Every agent of every tenant, in memory: there are few, and every run names one. */
export class Agents {
  readonly #byName = new Map<string, Agent>();
  readonly #byId = new Map<string, Agent>();
  readonly #byNumber = new Map<number, Agent>();
  #added: Agent[] = [];
  #lastNumber = 0;

  async load(connection: Connection, capture: Capture): Promise<void> {
    const rows = await connection.rows(
      `SELECT tenant, ${selectList(AGENTS.wire)} FROM ${relation(capture, AGENTS)}`,
    );
    for (const row of rows) {
      this.#put({
        agent_no: Number(row.agent_no),
        id: String(row.id),
        name: String(row.name),
        created_at: Number(row.created_at),
        tenant: Number(row.tenant),
      });
    }
    this.#added = [];
  }

  byId(tenant: number, id: string): Agent | undefined {
    const agent = this.#byId.get(id);
    return agent?.tenant === tenant ? agent : undefined;
  }

  byNumber(agentNo: number): Agent | undefined {
    return this.#byNumber.get(agentNo);
  }

  /** The tenant's agents whose names contain the text, in any case. */
  matching(tenant: number, text: string): Agent[] {
    const wanted = text.toLowerCase();
    return [...this.#byNumber.values()].filter(
      (agent) => agent.tenant === tenant && agent.name.toLowerCase().includes(wanted),
    );
  }

  /** The agent of that name, made where the name is new. */
  named(tenant: number, name: string, now: Micros): Agent {
    const known = this.#byName.get(nameKey(tenant, name));
    if (known !== undefined) return known;
    const agent = {
      agent_no: this.#lastNumber + 1,
      id: uuidV7(Math.floor(now / 1000)),
      name,
      created_at: now,
      tenant,
    };
    this.#put(agent);
    this.#added.push(agent);
    return agent;
  }

  /** Those made since the last `begin`, which the commit is to write. */
  get added(): readonly Agent[] {
    return this.#added;
  }

  begin(): void {
    this.#added = [];
  }

  /** Forgets those made since `begin`: their commit failed. */
  rollback(): void {
    for (const agent of this.#added) {
      this.#byName.delete(nameKey(agent.tenant, agent.name));
      this.#byId.delete(agent.id);
      this.#byNumber.delete(agent.agent_no);
    }
    this.#added = [];
  }

  #put(agent: Agent): void {
    this.#byName.set(nameKey(agent.tenant, agent.name), agent);
    this.#byId.set(agent.id, agent);
    this.#byNumber.set(agent.agent_no, agent);
    this.#lastNumber = Math.max(this.#lastNumber, agent.agent_no);
  }
}

function nameKey(tenant: number, name: string): string {
  return `${tenant}/${name}`;
}
