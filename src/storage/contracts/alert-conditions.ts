/** What alerts look at. */

export const ALERT_TYPES = [
  'failure_rate',
  'inactivity',
  'cost_threshold',
  'latency_threshold',
  'composite',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

export const METRIC_OPERATORS = ['gt', 'lt', 'gte', 'lte'] as const;
export type MetricOperator = (typeof METRIC_OPERATORS)[number];

/** What an alert looks at: an agent's runs, or a service's spans. */
export interface RunCondition {
  readonly type: Exclude<AlertType, 'composite'>;
  readonly source: 'ai';
  /** `failure_rate`: from 0 to 1; `inactivity`: hours; `cost_threshold`: US dollars; `latency_threshold`: milliseconds. */
  readonly threshold: number;
}

export interface MetricCondition {
  readonly type: 'metric_threshold';
  readonly source: 'infra';
  readonly metric_name: string;
  readonly operator: MetricOperator;
  readonly value: number;
}

export type AlertCondition = RunCondition | MetricCondition;

export interface CompositeConfig {
  readonly operator: 'and' | 'or';
  /** At least one of source `ai` and one of source `infra`; those of `ai` are never `latency_threshold`. */
  readonly conditions: readonly AlertCondition[];
}
