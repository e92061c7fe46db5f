import type { Micros } from '../signal/time.js';
import type { AlertRule } from '../storage/alert-store.js';
import { isNews } from './evidence.js';
import type { Verdict } from './verdict.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';

/** How long an alert must not be met before its incident is over: what comes and goes is one incident. */
const QUIET_TIME = 5 * MICROS_PER_MINUTE;

/** What a verdict brings about, and since when the alert is not met; null where it is, or has no incident. */
interface Decision {
  readonly action: 'fire' | 'resolve' | null;
  readonly quietSince: Micros | null;
}

/** @param quietSince as it was decided last; null at the start */
export function decide(rule: AlertRule, verdict: Verdict, quietSince: Micros | null, now: Micros): Decision {
  if (verdict.outcome === 'met')
    return { action: mayFire(rule, verdict, now) ? 'fire' : null, quietSince: null };
  if (!rule.incident) return { action: null, quietSince: null };
  // A clock that was put back begins the time anew.
  if (quietSince === null || now < quietSince) return { action: null, quietSince: now };
  return { action: now - quietSince >= QUIET_TIME ? 'resolve' : null, quietSince };
}

function mayFire({ alert, evidence }: AlertRule, verdict: Verdict, now: Micros): boolean {
  if (!alert.is_active) return false;
  if (alert.last_fired_at === null) return true;
  const rested = now - alert.last_fired_at >= alert.cooldown_minutes * MICROS_PER_MINUTE;
  return rested && isNews(verdict, evidence);
}
