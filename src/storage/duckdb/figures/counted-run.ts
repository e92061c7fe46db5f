import type { NanoUsd, Usd } from '../../../signal/money.js';
import type { Micros } from '../../../signal/time.js';

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
export interface RunChange {
  readonly before: CountedRun | null;
  readonly after: CountedRun;
}

/** Agents, by their numbers, of one tenant. */
export interface AgentsOf {
  readonly tenant: number;
  readonly numbers: readonly number[];
}
