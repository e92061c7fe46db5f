import type {
  Alert,
  AlertChange,
  AlertChannel,
  AlertIncident,
  AlertRule,
  AlertType,
  CompositeConfig,
  ScoreConfig,
} from '../contracts/alerts.js';
import type { Tables } from './tables.js';

/** Converts rows of alert rules. JSON in them was written by this store. */

function toAlert(row: Tables['alert_rules']): Alert {
  const { composite_config: config, score_config } = row;
  return {
    id: row.id,
    name: row.name,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    type: row.type as AlertType,
    threshold: row.threshold,
    cooldown_minutes: row.cooldown_minutes,
    window_minutes: row.window_minutes,
    min_samples: row.min_samples,
    is_active: row.is_active === 1,
    channel: row.channel as AlertChannel,
    webhook_url: row.webhook_url,
    composite_config: config === null ? null : (JSON.parse(config) as CompositeConfig),
    score_config: score_config === null ? null : (JSON.parse(score_config) as ScoreConfig),
    target_service: row.target_service,
    last_fired_at: row.last_fired_at,
    created_at: row.created_at,
  };
}

export function toRule(row: Tables['alert_rules']): AlertRule {
  const { user_id, incident_id, incident_firings, evidence } = row;
  const incident =
    incident_id === null || incident_firings === null ? null : { id: incident_id, firings: incident_firings };
  return { userId: user_id, alert: toAlert(row), incident, evidence };
}

/** The row of a rule that has never fired. */
export function fromNewAlert(alert: Alert, user_id: string, changed: number): Tables['alert_rules'] {
  const { composite_config, score_config } = alert;
  return {
    ...alert,
    id: alert.id.toLowerCase(),
    user_id,
    is_active: Number(alert.is_active),
    composite_config: composite_config === null ? null : JSON.stringify(composite_config),
    score_config: score_config === null ? null : JSON.stringify(score_config),
    ...fromIncident(null),
    evidence: null,
    changed,
  };
}

/** The columns that describe the incident. */
export function fromIncident(
  incident: AlertIncident | null,
): Pick<Tables['alert_rules'], 'incident_id' | 'incident_firings'> {
  return { incident_id: incident?.id ?? null, incident_firings: incident?.firings ?? null };
}

/** Ignores null values: fields can be changed, but not removed. A blank name and 0 remove the name, the window and the minimum. */
export function changedColumns({
  name,
  threshold,
  cooldown_minutes,
  window_minutes,
  min_samples,
  is_active,
  channel,
  webhook_url,
}: AlertChange): Partial<Tables['alert_rules']> {
  return {
    ...(typeof name === 'string' && { name: name.trim() || null }),
    ...(threshold !== undefined && { threshold }),
    ...(cooldown_minutes !== undefined && { cooldown_minutes }),
    ...(typeof window_minutes === 'number' && { window_minutes: window_minutes || null }),
    ...(typeof min_samples === 'number' && { min_samples: min_samples || null }),
    ...(is_active !== undefined && { is_active: Number(is_active) }),
    ...(channel !== undefined && { channel }),
    ...(webhook_url !== undefined && webhook_url !== null && { webhook_url }),
  };
}
