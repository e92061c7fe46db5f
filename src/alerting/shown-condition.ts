import type { AlertCondition, MetricOperator, ScoreCondition } from '../storage/contracts/alerts.js';
import type { JudgedCondition } from './verdict.js';

/** A condition and its result, as users see it. */
export type ShownCondition = {
  /** In the unit of the threshold; null without data. */
  readonly observed: number | null;
  readonly met: boolean;
} & (
  | {
      readonly type: Exclude<AlertCondition['type'], 'metric_threshold' | 'score_threshold'>;
      readonly source: 'ai';
      readonly threshold: number;
    }
  | {
      readonly type: 'metric_threshold';
      readonly source: 'infra';
      readonly metric_name: string;
      readonly operator: MetricOperator;
      readonly value: number;
    }
  | Omit<ScoreCondition, 'min_samples'>
);

export function showCondition({
  condition,
  finding: { value: observed, met },
}: JudgedCondition): ShownCondition {
  if (condition.type === 'score_threshold') {
    const { type, source, threshold, score_name, direction } = condition;
    return { type, source, threshold, score_name, direction, observed, met };
  }
  if (condition.type !== 'metric_threshold') {
    const { type, source, threshold } = condition;
    return { type, source, threshold, observed, met };
  }
  const { type, source, metric_name, operator, value } = condition;
  return { type, source, metric_name, operator, value, observed, met };
}
