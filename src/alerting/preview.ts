import { itemAt } from '../signal/checked.js';
import type { Micros } from '../signal/time.js';
import type { AlertRule, PastStats } from '../storage/contracts/alerts.js';
import type { AlertingSettings } from '../storage/contracts/coordination.js';
import type { Scene } from './conditions.js';
import type { Known } from './evidence.js';
import { momentAt } from './moment.js';
import { Inquiry } from './observing.js';
import type { WatchedRule } from './rule-index.js';
import { decide } from './state.js';
import { judgeAlert, type Verdict } from './verdict.js';

/** The result of an alert at a past moment. */
export interface PastPoint {
  readonly at: Micros;
  /** In the unit of the threshold; null for `composite` and without data. */
  readonly value: number | null;
  readonly verdict: Verdict['outcome'];
  /** The observed value of each condition. */
  readonly observed: readonly (number | null)[];
}

/** A simulated firing. */
export interface PastFiring {
  readonly firedAt: Micros;
  readonly value: number | null;
  /** Null if the firing would still be open. */
  resolvedAt: Micros | null;
}

export interface PastMoments {
  readonly now: Micros;
  readonly step: Micros;
  /** Including now. */
  readonly count: number;
}

/**
 * Simulates an alert at past moments with the data available now, the rules of real evaluations (`judgeAlert`, `decide`), and its
 * cooldown.
 *
 * @param rule need not be stored
 * @throws ConsumeError `storage_unavailable`, `overloaded`
 */
export async function previewAlert(
  past: PastStats,
  rule: AlertRule,
  settings: AlertingSettings,
  { now, step, count }: PastMoments,
  abort?: AbortSignal,
): Promise<{ readonly points: readonly PastPoint[]; readonly firings: readonly PastFiring[] }> {
  const moments = Array.from({ length: count }, (_, at) =>
    momentAt(now - (count - 1 - at) * step, settings, { knowsActivity: true, isDayMissed: false }),
  );
  const inquiry = new Inquiry();
  inquiry.add({ rule, known: null });
  const requests = moments.map((moment) => inquiry.request(moment));
  const observed = await past.observe(rule.userId, requests, abort);
  const watched: WatchedRule = { rule, known: null, isOurs: true, quietSince: null };
  const points: PastPoint[] = [];
  const firings: PastFiring[] = [];
  for (const [at, moment] of moments.entries()) {
    const scene = inquiry.scene(itemAt(observed, at), watched);
    const verdict = judgeAlert(rule.alert, { ...scene, isNew: newTo(watched.known) }, moment);
    const { value, outcome, conditions } = verdict;
    points.push({
      at: moment.now,
      value,
      verdict: outcome,
      observed: conditions.map(({ finding }) => finding.value),
    });
    const { action, quietSince } = decide(watched, verdict, moment.now);
    watched.quietSince = quietSince;
    if (action === 'fire') {
      firings.push({ firedAt: moment.now, value, resolvedAt: null });
      fired(watched, verdict, moment.now);
    }
    if (action === 'resolve') {
      for (const firing of firings) firing.resolvedAt ??= moment.now;
      watched.rule = { ...watched.rule, incident: null };
    }
  }
  return { points, firings };
}

/** Whether a condition uses newer data than the last simulated firing. */
function newTo(known: Known | null): Scene['isNew'] {
  return (looked, condition) => looked.evidence !== known?.[condition];
}

function fired(watched: WatchedRule, verdict: Verdict, now: Micros): void {
  const { rule } = watched;
  const { id = '', firings = 0 } = rule.incident ?? {};
  watched.rule = {
    ...rule,
    alert: { ...rule.alert, last_fired_at: now },
    incident: { id, firings: firings + 1 },
  };
  watched.known = verdict.conditions.map(({ finding }) => finding.evidence);
}
