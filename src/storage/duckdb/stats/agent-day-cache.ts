import type { Micros } from '../../../signal/time.js';
import type { AgentDay } from '../../contracts/runs.js';
import type { CountedRun, RunChanges } from './counted-run.js';

const DAY = 86_400_000_000;

/** Works out the days of an agent from the tables; both ends of the range are included. */
type DaysQuery = (range: { readonly from: Micros; readonly to: Micros }) => Promise<readonly AgentDay[]>;

/**
 * The days of agents that were asked for, kept until a commit touches them. A percentile needs every run of a day, so 30 days
 * take some 20 ms to work out, and all but the last never change any more.
 */
export class AgentDayCache implements RunChanges {
  /** By agent, then by the day's number since 1970: the day's figures, or null for a day without runs. */
  readonly #agents = new Map<number, Map<number, AgentDay | null>>();
  /** For each running query, the days that commits touched meanwhile: what it says of these is not kept. */
  readonly #queries = new Set<Set<string>>();
  readonly #maxDays: number;
  #days = 0;

  /** @param maxDays of all agents together; beyond it the agents asked for longest ago are forgotten */
  constructor(maxDays: number) {
    this.#maxDays = maxDays;
  }

  /** @param range from the start of a UTC day to the last moment of another */
  async read(
    agentNo: number,
    range: { readonly from: Micros; readonly to: Micros },
    query: DaysQuery,
  ): Promise<AgentDay[]> {
    const first = Math.floor(range.from / DAY);
    const last = Math.floor(range.to / DAY);
    if (range.from !== first * DAY || range.to !== last * DAY + DAY - 1) return [...(await query(range))];
    const known = this.#known(agentNo);
    const missing: number[] = [];
    for (let day = first; day <= last; day++) if (!known.has(day)) missing.push(day);
    const [from, to] = [missing[0], missing.at(-1)];
    // Days that are known may be touched while the query runs, and belong to the moment before it.
    const answer = new Map(known);
    if (from !== undefined && to !== undefined) {
      for (const [day, figures] of await this.#query(agentNo, from, to, query)) answer.set(day, figures);
    }
    const days: AgentDay[] = [];
    for (let day = first; day <= last; day++) {
      const figures = answer.get(day);
      if (figures) days.push(figures);
    }
    return days;
  }

  change(before: CountedRun | null, after: CountedRun): void {
    if (this.#days === 0 && this.#queries.size === 0) return;
    if (before !== null) this.#touched(before.agentNo, before.startedAt);
    this.#touched(after.agentNo, after.startedAt);
  }

  /** A header of this agent was written; its run started at this time. */
  #touched(agentNo: number, startedAt: Micros): void {
    const day = Math.floor(startedAt / DAY);
    const known = this.#agents.get(agentNo);
    if (known?.delete(day)) this.#days--;
    for (const touched of this.#queries) touched.add(keyOf(agentNo, day));
  }

  /** Forgets everything: days were removed. */
  clear(): void {
    this.#agents.clear();
    this.#days = 0;
    for (const touched of this.#queries) touched.add(EVERYTHING);
  }

  async #query(
    agentNo: number,
    from: number,
    to: number,
    query: DaysQuery,
  ): Promise<Map<number, AgentDay | null>> {
    const touched = new Set<string>();
    this.#queries.add(touched);
    try {
      const found = await query({ from: from * DAY, to: to * DAY + DAY - 1 });
      const byDate = new Map(found.map((figures) => [Date.parse(figures.date) * 1000, figures]));
      const days = new Map<number, AgentDay | null>();
      for (let day = from; day <= to; day++) days.set(day, byDate.get(day * DAY) ?? null);
      this.#keep(agentNo, days, touched);
      return days;
    } finally {
      this.#queries.delete(touched);
    }
  }

  #keep(agentNo: number, days: ReadonlyMap<number, AgentDay | null>, touched: ReadonlySet<string>): void {
    if (touched.has(EVERYTHING)) return;
    const known = this.#known(agentNo);
    for (const [day, figures] of days) {
      if (touched.has(keyOf(agentNo, day))) continue;
      if (!known.has(day)) this.#days++;
      known.set(day, figures);
    }
    for (const [oldest, { size }] of this.#agents) {
      if (this.#days <= this.#maxDays || oldest === agentNo) break;
      this.#agents.delete(oldest);
      this.#days -= size;
    }
  }

  /** The agent's known days. The agent now counts as the one asked for last. */
  #known(agentNo: number): Map<number, AgentDay | null> {
    const known = this.#agents.get(agentNo) ?? new Map<number, AgentDay | null>();
    this.#agents.delete(agentNo);
    this.#agents.set(agentNo, known);
    return known;
  }
}

const EVERYTHING = '*';

function keyOf(agentNo: number, day: number): string {
  return `${agentNo}/${day}`;
}
