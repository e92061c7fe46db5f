import type { Usd } from '../../signal/money.js';
import type { Micros } from '../../signal/time.js';
import type { RunCondition } from './alert-conditions.js';

/** What alerts ask of the telemetry, and what they are told. */

/** Which rows were looked at. Opaque: only the store that gave it can compare it, with what it finds later. */
export type Evidence = string;

/** An agent's runs (agent) or a node's spans (service) that an evaluator asks about. */
export type Target =
  | { readonly userId: string; readonly agentId: string }
  | { readonly userId: string; readonly service: string };

/** Which figures of a target are wanted: those that are not are null in the answer. */
export interface WantedFigures {
  readonly target: Target;
  readonly runs: boolean;
  readonly cost: boolean;
  readonly activity: boolean;
  /** What was known of its window when somebody looked before: each is told whether there is anything new. */
  readonly since?: readonly Evidence[];
}

/** The series of a metric that an evaluator asks about. */
export interface WantedMetric {
  readonly userId: string;
  readonly name: string;
  /**
   * Only the series whose label `service_name`, `service.name` or `service` is this, where any series of the metric has such a
   * label; null for all.
   */
  readonly service: string | null;
  /** As {@link WantedFigures.since}. */
  readonly since?: readonly Evidence[];
}

/** What was looked at, and whether it is something else than before. */
export interface Looked {
  readonly evidence: Evidence;
  /**
   * For each `since`: whether anything came that was not known then, be it a new row or a change of one. True where that was none of this
   * store's.
   */
  readonly isNews: readonly boolean[];
}

export interface Observing {
  /** One moment for all. */
  readonly now: Micros;
  /** Finished after this, and not after `now`. */
  readonly windowStart: Micros;
  /** Days by their first moment (included) and their end (excluded): the runs that started within. */
  readonly days: readonly { readonly from: Micros; readonly to: Micros }[];
  readonly targets: readonly WantedFigures[];
  readonly metrics: readonly WantedMetric[];
  /** Points after this, and not after `now`. */
  readonly pointsStart: Micros;
}

/** Finished runs (or spans) of a target in the window, by event time: the end, else the start, and never after it came. */
export interface WindowFigures extends Looked {
  readonly finished: number;
  /** `success` is false, or it is null and the status `failed` or `timed_out`. Of spans by status alone. */
  readonly failed: number;
  /** Those that have a duration. */
  readonly timed: number;
  /** `quantile_cont` of their `duration_ms`; null where there are none. */
  readonly p95_ms: number | null;
}

/** What a target's runs (or spans) of a day cost. */
export interface CostFigures {
  readonly cost: Usd;
  /** Those that have a cost. */
  readonly priced: number;
}

export interface TargetFigures {
  /** Null where they were not wanted, and where the target is not known (yet). */
  readonly window: WindowFigures | null;
  /** In the order of the days asked for; empty where they were not wanted, or the target is not known. */
  readonly costs: readonly CostFigures[];
  /**
   * The last time of any run or span, never after it came, also of those that retention has removed since; of an agent of
   * which no run is known, when it came into being. Null where there is none, or it was not wanted.
   */
  readonly activeAt: Micros | null;
}

/** The newest points of the series of a metric, one of each. */
export interface MetricFigures extends Looked {
  readonly series: number;
  /** Of their values; null where there are none. */
  readonly min: number | null;
  readonly max: number | null;
}

export interface Observed {
  /** In the order of the targets asked for. */
  readonly targets: readonly TargetFigures[];
  /** In the order of the metrics asked for; no series for an unknown one. Points without a finite value are left out. */
  readonly metrics: readonly MetricFigures[];
}

/** Which runs tell best why an alert fires. */
export interface ExampleQuery {
  readonly target: Target;
  readonly type: RunCondition['type'];
  readonly from: Micros;
  readonly to: Micros;
}

/**
 * What alerts read of the telemetry. All of one question is as of one moment, and what was acknowledged before it is in the answer. Evidence
 * says nothing to another store (`TelemetryPlane.identity`), which calls all of it news. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface AlertFigures {
  observe(request: Observing): Promise<Observed>;
  /** Ids of at most twenty traces of each: failed, the slowest, or the most expensive ones; none for `inactivity`. */
  exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]>;
}

/** What alerts would have been told in the past. */
export interface PastFigures {
  /**
   * What {@link AlertFigures.observe} would tell a user at moments of the past, by what is known now: late spans and outcomes count as if
   * they had come in time, and what retention has removed as if it had never been. A run that was under way counts as activity.
   *
   * @param requests the same but for their times, which lie equal steps apart, the oldest first; their targets and metrics are this
   *   user's, whatever user they name
   * @returns an answer for each
   * @throws ConsumeError `overloaded` where the user already reads as much as it may
   */
  observe(userId: string, requests: readonly Observing[], abort?: AbortSignal): Promise<readonly Observed[]>;
}
