import type { Micros } from '../signal/time.js';
import type { Alert, AlertCondition, AlertType } from '../storage/contracts/alerts.js';
import { judgeCondition, type Finding, type Scene } from './conditions.js';
import { momentOf, type Moment } from './moment.js';

export type AlertUnit = 'ratio' | 'hours' | 'usd' | 'ms' | 'score';

const UNITS: Readonly<Record<AlertType, AlertUnit | null>> = {
  failure_rate: 'ratio',
  inactivity: 'hours',
  cost_threshold: 'usd',
  latency_threshold: 'ms',
  score_threshold: 'score',
  composite: null,
};

export interface JudgedCondition {
  readonly condition: AlertCondition;
  readonly finding: Finding;
}

/** The result of an alert, whether or not it fires. */
export interface Verdict {
  /** `no_data`: the result depends on missing data. Such an alert never fires. */
  readonly outcome: 'met' | 'not_met' | 'no_data';
  /** In the unit of the threshold; null for `composite` and without data. */
  readonly value: number | null;
  readonly samples: number;
  /** Start of the evaluated time range; for `composite`, of all conditions together. */
  readonly from: Micros;
  readonly to: Micros;
  /** In the order of the alert's conditions; just one, unless it is `composite`. */
  readonly conditions: readonly JudgedCondition[];
}

/** The unit of an alert's threshold and value. */
export function unitOf(type: AlertType): AlertUnit | null {
  return UNITS[type];
}

/** An alert's conditions: itself, unless it is `composite`. */
export function conditionsOf(alert: Alert): readonly AlertCondition[] {
  const { type, threshold, score_config } = alert;
  if (type === 'composite') return alert.composite_config?.conditions ?? [];
  if (type !== 'score_threshold') return [{ type, source: 'ai', threshold }];
  return score_config === null ? [] : [{ type, source: 'ai', threshold, ...score_config }];
}

/** Evaluates an alert at a moment. */
export function judgeAlert(alert: Alert, scene: Scene, moment: Moment): Verdict {
  const own = momentOf(alert, moment);
  const conditions = conditionsOf(alert).map((condition, index): JudgedCondition => ({
    condition,
    finding: judgeCondition(condition, index, scene, own),
  }));
  const findings = conditions.map(({ finding }) => finding);
  return {
    outcome: outcomeOf(findings, alert.composite_config?.operator ?? 'and'),
    value: alert.type === 'composite' ? null : (findings[0]?.value ?? null),
    samples: findings.reduce((sum, { samples }) => sum + samples, 0),
    from: Math.min(moment.now, ...findings.map(({ from }) => from)),
    to: findings.length > 0 ? Math.max(...findings.map(({ to }) => to)) : moment.now,
    conditions,
  };
}

/** Met or not met only if missing data cannot change the result. */
function outcomeOf(findings: readonly Finding[], operator: 'and' | 'or'): Verdict['outcome'] {
  if (findings.length === 0) return 'no_data';
  const isUnknown = ({ value }: Finding): boolean => value === null;
  const isMet = operator === 'and' ? findings.every(({ met }) => met) : findings.some(({ met }) => met);
  if (isMet) return 'met';
  const isCertain =
    operator === 'and'
      ? findings.some((finding) => !finding.met && !isUnknown(finding))
      : !findings.some(isUnknown);
  return isCertain ? 'not_met' : 'no_data';
}
