import type { AlertEvidence } from '../storage/alert-store.js';
import type { Finding } from './conditions.js';
import type { Verdict } from './verdict.js';

/** What an alert looked at, to be known again. */
export function evidenceOf(verdict: Verdict): AlertEvidence {
  return verdict.conditions.map(({ finding }) => finding.evidence);
}

/** Whether a condition that is met looked at something that the last firing did not know. */
export function isNews(verdict: Verdict, known: AlertEvidence | null): boolean {
  return verdict.conditions.some(({ condition, finding }, index) => {
    if (!finding.met) return false;
    // That nothing happens is not told by rows: the longer it lasts, the more it is worth a reminder.
    return condition.type === 'inactivity' || isNewer(finding.evidence, known?.[index] ?? null);
  });
}

function isNewer(found: Finding['evidence'], known: Finding['evidence']): boolean {
  if (found === null || known === null) return true;
  if ('seq' in found) return !('seq' in known) || found.seq > known.seq;
  if (!('day' in known) || found.day > known.day) return true;
  return found.day === known.day && found.cost > known.cost;
}
