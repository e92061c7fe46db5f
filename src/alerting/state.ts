import type { Micros } from '../signal/time.js';
import type { Alert } from '../storage/contracts/alerts.js';
import type { WatchedRule } from './rule-index.js';
import type { Verdict } from './verdict.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';

/** An alert must stay unmet this long before its incident ends, so that a flapping alert makes one incident. */
const QUIET_TIME = 5 * MICROS_PER_MINUTE;

/** The action that follows from a verdict, and since when the alert is unmet; null if it is met or has no incident. */
interface Decision {
  readonly action: 'fire' | 'resolve' | null;
  readonly quietSince: Micros | null;
}

export function decide({ rule, quietSince, isOurs }: WatchedRule, verdict: Verdict, now: Micros): Decision {
  if (verdict.outcome === 'met')
    return { action: mayFire(rule.alert, verdict, now) ? 'fire' : null, quietSince: null };
  // An incident from another telemetry store can only be resolved by that store.
  if (!rule.incident || !isOurs) return { action: null, quietSince: null };
  // If the clock was set back, the quiet time starts again.
  if (quietSince === null || now < quietSince) return { action: null, quietSince: now };
  return { action: now - quietSince >= QUIET_TIME ? 'resolve' : null, quietSince };
}

/** A met condition must rest on evidence newer than the last firing. */
function mayFire(alert: Alert, verdict: Verdict, now: Micros): boolean {
  if (!alert.is_active) return false;
  if (alert.last_fired_at === null) return true;
  const rested = now - alert.last_fired_at >= alert.cooldown_minutes * MICROS_PER_MINUTE;
  return rested && verdict.conditions.some(({ finding }) => finding.met && finding.isNew);
}
