import { uuidV7 } from '../../../src/signal/ids.js';
import type { Alert, NotificationAttempt } from '../../../src/storage/contracts/alerts.js';
import { NOON } from '../../support/run-records.js';

export const MINUTE = 60_000_000;

/** An alert on a service, so that it needs no agent. */
export function anAlert(changes: Partial<Alert> = {}): Alert {
  return {
    id: uuidV7(NOON / 1000),
    agent_id: null,
    agent_name: null,
    type: 'failure_rate',
    threshold: 0.25,
    cooldown_minutes: 60,
    is_active: true,
    channel: 'email',
    webhook_url: null,
    composite_config: null,
    score_config: null,
    name: null,
    window_minutes: null,
    min_samples: null,
    target_service: 'billing',
    last_fired_at: null,
    created_at: NOON,
    ...changes,
  };
}

export function anAttempt(changes: Partial<NotificationAttempt> = {}): NotificationAttempt {
  return {
    attempt_number: 1,
    attempted_at: NOON + MINUTE,
    status_code: 250,
    duration_ms: 12.5,
    error_message: null,
    ...changes,
  };
}
