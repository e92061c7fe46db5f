import { formatTime } from '../signal/time.js';
import type { Alert, AlertIncident, AlertRule, DecidedFiring, Resolution } from '../storage/alert-rules.js';
import { showCondition } from './shown-condition.js';
import { unitOf, type Verdict } from './verdict.js';

/** The `data` of the event `alert.fired`. @param incident including this firing */
export function firedData(
  alert: Alert,
  verdict: Verdict,
  incident: AlertIncident,
  firedAt: DecidedFiring['firedAt'],
  exampleTraceIds: readonly string[],
): object {
  return {
    ...ofAlert(alert),
    threshold: alert.threshold,
    value: verdict.value,
    unit: unitOf(alert.type),
    window: { from: formatTime(verdict.from), to: formatTime(verdict.to) },
    sample_count: verdict.samples,
    fired_at: formatTime(firedAt),
    incident_id: incident.id,
    repeat: incident.firings - 1,
    conditions: verdict.conditions.map(showCondition),
    example_trace_ids: exampleTraceIds,
  };
}

/** The `data` of the event `alert.resolved`. */
export function resolvedData(
  { alert }: AlertRule,
  incident: AlertIncident,
  resolvedAt: Resolution['resolvedAt'],
): object {
  return {
    ...ofAlert(alert),
    incident_id: incident.id,
    fired_at: alert.last_fired_at === null ? null : formatTime(alert.last_fired_at),
    resolved_at: formatTime(resolvedAt),
  };
}

function ofAlert({ id, type, agent_id, agent_name, target_service }: Alert): object {
  return { alert_id: id, type, agent_id, agent_name, target_service };
}
