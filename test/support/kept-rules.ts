import type { DecidedFiring, KeptRule } from '../../src/storage/alert-rules.js';
import type { Alert } from '../../src/storage/alert-store.js';
import type { ControlPlane } from '../../src/storage/control-plane.js';
import { aFiring, anAlert } from '../storage/alert-records.js';

/** A new rule of a user. */
export async function addRule(
  { alerts }: ControlPlane,
  userId: string,
  changes: Partial<Alert> = {},
): Promise<KeptRule> {
  const alert = anAlert(changes);
  const outcome = await alerts.create(userId, alert, Infinity);
  if (outcome !== 'created') throw new Error(`the rule was not created: ${outcome}`);
  return { userId, alert, incident: null, evidence: null };
}

/** A rule as it is now. */
export async function ruleNow({ alerts }: ControlPlane, { userId, alert }: KeptRule): Promise<KeptRule> {
  const rule = await alerts.read(userId, alert.id);
  if (rule === null) throw new Error('the rule is gone');
  return rule;
}

/** The firing of a rule as it is: the first of an incident, or the next one. */
export function aDecision(rule: KeptRule, changes: Partial<DecidedFiring> = {}): DecidedFiring {
  const { evidence = 'seen: 7', ...rest } = changes;
  return { ...aFiring({ ...rule, evidence: null }, rest), evidence };
}

/** A rule once a firing of it is written. */
export function firedRule(rule: KeptRule, { firedAt, incident, evidence }: DecidedFiring): KeptRule {
  return { ...rule, alert: { ...rule.alert, last_fired_at: firedAt }, incident, evidence };
}
