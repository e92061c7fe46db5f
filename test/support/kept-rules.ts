import { uuidV7 } from '../../src/signal/ids.js';
import type { Alert, AlertRule, DecidedFiring } from '../../src/storage/contracts/alerts.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import { anAlert, MINUTE } from '../storage/duckdb/alert-records.js';
import { NOON } from './run-records.js';

/** A new rule of a user. */
export async function addRule(
  { alerts }: ControlStore,
  userId: string,
  changes: Partial<Alert> = {},
): Promise<AlertRule> {
  const alert = anAlert(changes);
  const outcome = await alerts.create(userId, alert, Infinity);
  if (outcome !== 'created') throw new Error(`the rule was not created: ${outcome}`);
  return { userId, alert, incident: null, evidence: null };
}

/** The current state of a rule. */
export async function ruleNow({ alerts }: ControlStore, { userId, alert }: AlertRule): Promise<AlertRule> {
  const rule = await alerts.read(userId, alert.id);
  if (rule === null) throw new Error('the rule is gone');
  return rule;
}

/** The next firing of a rule: the first of an incident or a later one. */
export function aDecision(
  { alert, incident }: AlertRule,
  changes: Partial<DecidedFiring> = {},
): DecidedFiring {
  const firedAt = changes.firedAt ?? NOON + MINUTE;
  const eventId = changes.eventId ?? uuidV7(firedAt / 1000);
  return {
    alertId: alert.id,
    lastFiredAt: alert.last_fired_at,
    firedAt,
    eventId,
    incident: { id: incident?.id ?? eventId, firings: (incident?.firings ?? 0) + 1 },
    evidence: 'seen: 7',
    threshold: alert.threshold,
    value: 0.5,
    data: { alert_id: alert.id },
    traceIds: [],
    ...changes,
  };
}

/** A rule after a firing was written. */
export function firedRule(rule: AlertRule, { firedAt, incident, evidence }: DecidedFiring): AlertRule {
  return { ...rule, alert: { ...rule.alert, last_fired_at: firedAt }, incident, evidence };
}
