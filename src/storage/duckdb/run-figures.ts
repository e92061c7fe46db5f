import { RUN_STATUSES } from '../../signal/span.js';
import { MoneySum, type NanoUsd, type Usd } from '../../signal/money.js';
import type { Micros } from '../../signal/time.js';
import { DurationHistogram, type Quantile } from './duration-histogram.js';
import { NewestStarts } from './newest-starts.js';

/** What a stored run adds to the figures of its agent. */
export interface CountedRun {
  readonly tenant: number;
  readonly agentNo: number;
  readonly startedAt: Micros;
  /** A position in `RUN_STATUSES`. */
  readonly status: number;
  readonly success: boolean | null;
  readonly cost: NanoUsd | null;
  readonly durationMs: number | null;
}

/** A run as it is stored. */
export interface StoredRun extends CountedRun {
  /** As {@link RunChanges} tell it. */
  readonly activeAt: Micros;
}

/** Who is told of every change of a stored run, after its commit and before anybody hears of it. */
export interface RunChanges {
  /**
   * @param before null for a run that is new
   * @param activeAt the last time that it has (of one that goes on, also of its spans), and never after news of it came
   */
  change(before: CountedRun | null, after: CountedRun, activeAt: Micros): void;
}

/** The sums over an agent's runs. */
export interface AgentTotals {
  readonly runs: number;
  readonly byStatus: readonly number[];
  readonly successes: number;
  readonly failures: number;
  readonly pricedRuns: number;
  /** Null when no run has a cost. */
  readonly cost: Usd | null;
  /** Null when it is not known, although there are runs. */
  readonly newestStart: Micros | null;
}

/** A call of {@link RunChanges}. */
interface RunChange {
  readonly before: CountedRun | null;
  readonly after: CountedRun;
  readonly activeAt: Micros;
}

/**
 * Sums over the runs of every agent, kept in memory and changed with every commit: so lists of agents, counts of runs and
 * the place of a percentile need no look at the tables. Some 10 KB an agent; loaded at the start from the headers.
 */
export class RunFigures implements RunChanges {
  #agents = new Map<number, AgentSums>();
  #tenants = new Map<number, NewestStarts>();
  /** What {@link activeAt} tells. */
  readonly #activeAt = new Map<number, Micros>();
  /** Changes since a load began, which the loaded figures do not hold. */
  #meanwhile: RunChange[] | null = null;

  change(before: CountedRun | null, after: CountedRun, activeAt: Micros): void {
    this.#meanwhile?.push({ before, after, activeAt });
    if (before !== null) this.#count(before, -1);
    this.#count(after, 1);
    this.#noteActivity(after.agentNo, activeAt);
  }

  /**
   * Takes all stored runs in place of what is known: at the start, and after some were removed. Who was active stays known.
   *
   * @param stored every run as of the moment of the call, by the piece; later changes are told meanwhile as always
   */
  async load(stored: AsyncIterable<readonly StoredRun[]>): Promise<void> {
    const meanwhile: RunChange[] = [];
    this.#meanwhile = meanwhile;
    try {
      const loaded = new RunFigures();
      for await (const runs of stored) {
        for (const run of runs) {
          loaded.#count(run, 1);
          this.#noteActivity(run.agentNo, run.activeAt);
        }
      }
      for (const { before, after, activeAt } of meanwhile) loaded.change(before, after, activeAt);
      this.#agents = loaded.#agents;
      this.#tenants = loaded.#tenants;
    } finally {
      this.#meanwhile = null;
    }
  }

  /** Agents that have runs. */
  agentsOf(tenant: number): { readonly agentNo: number; readonly totals: AgentTotals }[] {
    return [...this.#agents]
      .filter(([, sums]) => sums.tenant === tenant && sums.runs > 0)
      .map(([agentNo, sums]) => ({ agentNo, totals: sums.totals() }));
  }

  totals(agentNo: number): AgentTotals | undefined {
    return this.#agents.get(agentNo)?.totals();
  }

  /**
   * The last time of any of the agent's runs; null where no run of it was known since the start. It is never taken back: what a
   * run said of itself before its newest version, and under another agent's name, holds until the next start, and so does what
   * runs said that retention has removed. Who is silent is so whether or not the runs are kept.
   */
  activeAt(agentNo: number): Micros | null {
    return this.#activeAt.get(agentNo) ?? null;
  }

  /** Where the agent's 95th percentile of duration lies; null when no run has a duration. */
  p95(agentNo: number): Quantile | null {
    return this.#agents.get(agentNo)?.durations.find(0.95) ?? null;
  }

  /** The start of the tenant's (or the agent's) `n`th newest run; null where that is not known. */
  nthNewest(tenant: number, agentNo: number | undefined, n: number): Micros | null {
    const starts = agentNo === undefined ? this.#tenants.get(tenant) : this.#agents.get(agentNo)?.starts;
    return starts?.get(n) ?? null;
  }

  #noteActivity(agentNo: number, at: Micros): void {
    const known = this.#activeAt.get(agentNo);
    if (known === undefined || at > known) this.#activeAt.set(agentNo, at);
  }

  #count(run: CountedRun, sign: 1 | -1): void {
    const starts = getOrMake(this.#tenants, run.tenant, () => new NewestStarts());
    if (sign > 0) starts.add(run.startedAt);
    else starts.remove(run.startedAt);
    getOrMake(this.#agents, run.agentNo, () => new AgentSums(run.tenant)).count(run, sign);
  }
}

class AgentSums {
  readonly tenant: number;
  readonly durations = new DurationHistogram();
  readonly starts = new NewestStarts();
  runs = 0;
  readonly #byStatus = RUN_STATUSES.map(() => 0);
  #successes = 0;
  #failures = 0;
  #pricedRuns = 0;
  readonly #cost = new MoneySum();

  constructor(tenant: number) {
    this.tenant = tenant;
  }

  count({ startedAt, status, success, cost, durationMs }: CountedRun, sign: 1 | -1): void {
    this.runs += sign;
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + sign;
    if (success === true) this.#successes += sign;
    else if (success === false) this.#failures += sign;
    if (cost !== null) {
      this.#pricedRuns += sign;
      this.#cost.add(cost, sign);
    }
    if (durationMs !== null) this.durations.add(durationMs, sign);
    if (sign > 0) this.starts.add(startedAt);
    else this.starts.remove(startedAt);
  }

  totals(): AgentTotals {
    return {
      runs: this.runs,
      byStatus: this.#byStatus,
      successes: this.#successes,
      failures: this.#failures,
      pricedRuns: this.#pricedRuns,
      cost: this.#pricedRuns === 0 ? null : this.#cost.toNumber(),
      newestStart: this.starts.get(1),
    };
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
