import type { NanoUsd, Usd } from '../../../signal/money.js';
import type { Micros } from '../../../signal/time.js';

/** The values of a stored run that count in the stats of its agent. */
export interface CountedRun {
  readonly tenant: number;
  /** The number of the agent, which depends on name and kind. */
  readonly agentNo: number;
  /** A position in `RUN_KINDS`. */
  readonly kind: number;
  readonly startedAt: Micros;
  /** A position in `RUN_STATUSES`. */
  readonly status: number;
  readonly success: boolean | null;
  readonly cost: NanoUsd | null;
  readonly durationMs: number | null;
}

/** Receives every change of a stored run, after its commit and before any response. */
export interface RunChanges {
  /**
   * @param before null for a new run
   * @param activeAt the run's last time (for a running run also of its spans), capped at the time when it was last seen
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
  /** Null if unknown, although there are runs. */
  readonly newestStart: Micros | null;
}

/** A call of {@link RunChanges}. */
export interface RunChange {
  readonly before: CountedRun | null;
  readonly after: CountedRun;
}

/** Agents of one user, by their numbers. */
export interface AgentsOf {
  readonly tenant: number;
  readonly numbers: readonly number[];
}

/** Runs of a user: of one agent if there is a number, else of one kind, else all. */
export interface RunList {
  readonly tenant: number;
  readonly kind?: number;
  readonly agentNo?: number;
}
