import type { Usd } from '../signal/money.js';
import type { Micros } from '../signal/time.js';
import type { RunCondition } from './alert-conditions.js';

/** What alerts ask of the telemetry, and what they are told. */

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
export interface WindowFigures {
  readonly finished: number;
  /** `success` is false, or it is null and the status `failed` or `timed_out`. Of spans by status alone. */
  readonly failed: number;
  /** Those that have a duration. */
  readonly timed: number;
  /** `quantile_cont` of their `duration_ms`; null where there are none. */
  readonly p95_ms: number | null;
  /** The greatest `seq` among them; 0 for none. */
  readonly seq: number;
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
export interface MetricFigures {
  readonly series: number;
  /** Of their values; null where there are none. */
  readonly min: number | null;
  readonly max: number | null;
  /** The greatest `seq` among them; 0 for none. */
  readonly seq: number;
}

export interface Observed {
  /** In the order of the targets asked for. */
  readonly targets: readonly TargetFigures[];
  /** In the order of the metrics asked for; no series for an unknown one. Points without a finite value are left out. */
  readonly metrics: readonly MetricFigures[];
}

/** What commits changed since it was asked last. */
export interface Touched {
  /** Ids of agents of which something came. */
  readonly agents: readonly string[];
  /** Users of whom spans came, and users of whom points came. */
  readonly spansOf: readonly string[];
  readonly pointsOf: readonly string[];
}

/** Which runs tell best why an alert fires. */
export interface ExampleQuery {
  readonly target: Target;
  readonly type: RunCondition['type'];
  readonly from: Micros;
  readonly to: Micros;
}
