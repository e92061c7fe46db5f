import type { NotificationAttempt } from '../../alert-notices.js';
import type { Alert, AlertChannel, AlertEvidence, AlertIncident, AlertRule } from '../../alert-store.js';
import type { AlertType, CompositeConfig } from '../../alert-conditions.js';
import type { Row, Value } from '../connection.js';
import { numberOrNull } from './delivery-rows.js';
import { readAnyText } from './tables.js';

/** Rows of the tables of alerts as what they mean. What is JSON there was written by this store. */

export function toAlert(row: Row): Alert {
  return {
    id: String(row.id),
    agent_id: textOrNull(row.agent_id),
    agent_name: readAnyText(row.agent_name),
    type: String(row.type) as AlertType,
    threshold: Number(row.threshold),
    cooldown_minutes: Number(row.cooldown_minutes),
    is_active: row.is_active === true,
    channel: String(row.channel) as AlertChannel,
    webhook_url: textOrNull(row.webhook_url),
    composite_config: fromJson(row.composite_config) as CompositeConfig | null,
    target_service: readAnyText(row.target_service),
    last_fired_at: numberOrNull(row.last_fired_at),
    created_at: Number(row.created_at),
  };
}

export function toRule(row: Row): AlertRule {
  return {
    userId: String(row.user_id),
    alert: toAlert(row),
    incident: toIncident(row),
    evidence: fromJson(row.evidence) as AlertEvidence | null,
  };
}

/** The row of an alert that has never fired. */
export function fromNewAlert(alert: Alert, userId: string, tenant: number): Row {
  return { ...alert, composite_config: toJson(alert.composite_config), user_id: userId, tenant };
}

/** The columns that say which incident it is. */
export function fromIncident(incident: AlertIncident | null): Row {
  return { incident_id: incident?.id ?? null, incident_firings: incident?.firings ?? null };
}

/** The attempts of a notice. */
export function toAttempts(row: Row): readonly NotificationAttempt[] {
  return fromJson(row.history) as readonly NotificationAttempt[];
}

export function textOrNull(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function toIncident(row: Row): AlertIncident | null {
  const id = textOrNull(row.incident_id);
  return id === null ? null : { id, firings: Number(row.incident_firings) };
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function fromJson(value: Value | undefined): unknown {
  return typeof value === 'string' ? JSON.parse(value) : null;
}
