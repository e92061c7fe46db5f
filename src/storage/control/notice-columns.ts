import type { Micros } from '../../signal/time.js';
import type {
  AlertChannel,
  AlertNotification,
  AlertRule,
  NotificationAttempt,
  NotificationChannel,
  NotificationStatus,
} from '../contracts/alerts.js';
import type { Tables } from './tables.js';

/** The index of a channel is part of the number of its notices. */
const CHANNELS: Readonly<Record<AlertChannel, readonly NotificationChannel[]>> = {
  email: ['email'],
  webhook: ['webhook'],
  both: ['email', 'webhook'],
};

/** The rows of a firing's notices, given the number of the firing. They are due at once. */
export function noticesOf(
  { alert, userId }: AlertRule,
  firing: number,
  firedAt: Micros,
): readonly Tables['alert_notices'][] {
  return CHANNELS[alert.channel].map((channel, i) => ({
    number: 2 * firing + i,
    firing,
    user_id: userId,
    channel,
    webhook_url: channel === 'webhook' ? alert.webhook_url : null,
    status: 'pending',
    detail: null,
    due_at: firedAt,
    attempts: 0,
    history: '[]',
    token: 0,
    claimed_until: 0,
  }));
}

export function toNotification(row: Tables['alert_notices']): AlertNotification {
  return {
    channel: row.channel as NotificationChannel,
    status: row.status as NotificationStatus,
    detail: row.detail,
    attempts: toAttempts(row.history),
  };
}

/** The JSON was written by this store. */
export function toAttempts(history: string): readonly NotificationAttempt[] {
  return JSON.parse(history) as readonly NotificationAttempt[];
}
