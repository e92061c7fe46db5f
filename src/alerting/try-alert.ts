import type { Micros } from '../signal/time.js';
import { uuidV7 } from '../signal/ids.js';
import type { AlertStats, AlertRule, TestFiring } from '../storage/contracts/alerts.js';
import type { AlertingSettings } from '../storage/contracts/coordination.js';
import { firedData } from './evaluation.js';
import { knownBy } from './evidence.js';
import { momentAt } from './moment.js';
import { Inquiry } from './observing.js';
import { showCondition, type ShownCondition } from './shown-condition.js';
import { judgeAlert, unitOf, type AlertUnit, type Verdict } from './verdict.js';

/** The result of an alert now, whether or not it would fire. */
export interface AlertTrial {
  /** In the unit of the threshold; null for `composite` and without data. */
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

/** The data sources of an alert trial. */
export interface TrialSource {
  readonly stats: Pick<AlertStats, 'observe'>;
  /** The identity of the telemetry store. */
  readonly source: string;
}

/**
 * Evaluates an alert as usual, even if it is inactive, and regardless of its cooldown and earlier firings.
 *
 * @throws ConsumeError `storage_unavailable`
 */
export async function tryAlert(
  from: TrialSource,
  rule: AlertRule,
  settings: AlertingSettings,
  now: Micros,
): Promise<AlertTrial> {
  const { alert } = rule;
  const verdict = await judgeNow(from, rule, settings, now);
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

/**
 * A firing with the values of now, met or not, that tests the notification.
 *
 * @throws ConsumeError `storage_unavailable`
 */
export async function testFiring(
  from: TrialSource,
  rule: AlertRule,
  settings: AlertingSettings,
  now: Micros,
): Promise<TestFiring> {
  const { alert } = rule;
  const verdict = await judgeNow(from, rule, settings, now);
  const eventId = uuidV7(Math.floor(now / 1000));
  const { value } = verdict;
  const data = firedData(alert, verdict, { id: eventId, firings: 1 }, now, []);
  return {
    ...{ alertId: alert.id, firedAt: now, eventId, threshold: alert.threshold, value },
    data: { ...data, is_test: true },
  };
}

async function judgeNow(
  { stats, source }: TrialSource,
  rule: AlertRule,
  settings: AlertingSettings,
  now: Micros,
): Promise<Verdict> {
  const moment = momentAt(now, settings, { knowsActivity: true, isDayMissed: false });
  const inquiry = new Inquiry();
  const inquiring = { rule, known: knownBy(rule.evidence, source) };
  inquiry.add(inquiring);
  const observed = await stats.observe(inquiry.request(moment));
  return judgeAlert(rule.alert, inquiry.scene(observed, inquiring), moment);
}
