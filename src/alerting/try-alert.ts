import type { Micros } from '../signal/time.js';
import type { AlertStats, AlertRule } from '../storage/contracts/alerts.js';
import type { AlertingSettings } from '../storage/contracts/coordination.js';
import { knownBy } from './evidence.js';
import { momentAt } from './moment.js';
import { Inquiry } from './observing.js';
import { showCondition, type ShownCondition } from './shown-condition.js';
import { judgeAlert, unitOf, type AlertUnit, type Verdict } from './verdict.js';

/** What an alert finds now, whether or not it would fire. */
export interface AlertTrial {
  /** In the unit of the threshold; null for `composite`, and where nothing is known. */
  readonly value: number | null;
  readonly threshold: number;
  readonly unit: AlertUnit | null;
  /** Runs, spans or series that were evaluated. */
  readonly sample_count: number;
  readonly verdict: Verdict['outcome'];
  readonly window: { readonly from: Micros; readonly to: Micros };
  /** One, unless the alert is `composite`. */
  readonly conditions: readonly ShownCondition[];
}

/** What an alert is judged by. */
export interface TrialSource {
  readonly stats: Pick<AlertStats, 'observe'>;
  /** The identity of the store whose figures they are. */
  readonly source: string;
}

/**
 * Judges an alert as an evaluation would, whether it is active or not, regardless of its cooldown and of what it fired for.
 *
 * @throws ConsumeError `storage_unavailable`
 */
export async function tryAlert(
  { stats, source }: TrialSource,
  rule: AlertRule,
  terms: AlertingSettings,
  now: Micros,
): Promise<AlertTrial> {
  const moment = momentAt(now, terms, { knowsActivity: true, isDayMissed: false });
  const inquiry = new Inquiry();
  const inquiring = { rule, known: knownBy(rule.evidence, source) };
  inquiry.add(inquiring);
  const observed = await stats.observe(inquiry.request(moment));
  const { alert } = rule;
  const verdict = judgeAlert(alert, inquiry.scene(observed, inquiring), moment);
  return {
    value: verdict.value,
    threshold: alert.threshold,
    unit: unitOf(alert.type),
    sample_count: verdict.samples,
    verdict: verdict.outcome,
    window: { from: verdict.from, to: verdict.to },
    conditions: verdict.conditions.map(showCondition),
  };
}
