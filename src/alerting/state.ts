import type { Micros } from '../signal/time.js';
import type { Alert } from '../storage/contracts/alerts.js';
import type { WatchedRule } from './rule-index.js';
import type { Verdict } from './verdict.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';

/** For how long an alert must not be met before its incident is over, so that what comes and goes is one incident. */
const QUIET_TIME = 5 * MICROS_PER_MINUTE;

/** What a verdict brings about, and since when the alert has not been met; null where it is met, or has no incident. */
interface Decision {
  readonly action: 'fire' | 'resolve' | null;
  readonly quietSince: Micros | null;
}

export function decide({ rule, quietSince, isOurs }: WatchedRule, verdict: Verdict, now: Micros): Decision {
  if (verdict.outcome === 'met')
    return { action: mayFire(rule.alert, verdict, now) ? 'fire' : null, quietSince: null };
  // What the telemetry of another store shows can be over only by that telemetry.
  if (!rule.incident || !isOurs) return { action: null, quietSince: null };
  // After a clock was put back the time begins anew.
  if (quietSince === null || now < quietSince) return { action: null, quietSince: now };
  return { action: now - quietSince >= QUIET_TIME ? 'resolve' : null, quietSince };
}

/** A condition that is met must have looked at something that the last firing did not know. */
function mayFire(alert: Alert, verdict: Verdict, now: Micros): boolean {
  if (!alert.is_active) return false;
  if (alert.last_fired_at === null) return true;
  const rested = now - alert.last_fired_at >= alert.cooldown_minutes * MICROS_PER_MINUTE;
  return rested && verdict.conditions.some(({ finding }) => finding.met && finding.isNews);
}
