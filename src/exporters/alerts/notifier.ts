import type { Clock, Logger } from '../../component/telemetry.js';
import { DueLoop, type Found } from '../../delivery/senders/due-loop.js';
import { MAIL_CONNECTIONS } from '../../delivery/senders/email/mailer.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { Micros } from '../../signal/time.js';
import {
  NOTIFICATION_CHANNELS,
  type DueNotification,
  type DueRequest,
  type HeldNotification,
  type NotificationChannel,
  type NotificationResult,
  type NotificationStatus,
} from '../../storage/alert-notices.js';
import { type AlertStore } from '../../storage/alert-store.js';
import type { Channel } from './channel.js';

/** Mails never wait for a connection within their time, nor take the places of webhooks; to one user there is one at a time. */
const PLACES: DueRequest['places'] = {
  email: { all: MAIL_CONNECTIONS, perUser: 1 },
  webhook: { all: 14, perUser: 4 },
};

/** Notices that are settled in one go without being sent: the rest follows when the store is asked again. */
const MOST_SKIPPED = 1000;

export interface NotifierTools {
  readonly store: Pick<
    AlertStore,
    'dueNotifications' | 'skipNotifications' | 'finishNotifications' | 'watchNotifications'
  >;
  readonly channels: Readonly<Record<NotificationChannel, Channel>>;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Told when the store begins to fail, and when all works again. */
  readonly onStore: (isFailing: boolean) => void;
  /** Told what became of a notice at each attempt. */
  readonly onResult: (channel: NotificationChannel, status: NotificationStatus) => void;
}

/** Sends the notices of a store that are due, from now on until it is stopped. */
export function startNotifier(tools: NotifierTools): DueLoop<DueNotification, NotificationResult> {
  const { store, clock, logger } = tools;
  const faults = new SparseLog(logger, clock);
  return new DueLoop({
    ...tools,
    sent: 'notices of alerts',
    maxConcurrency: PLACES.email.all + PLACES.webhook.all,
    find: (_, underWay) => findNotices(tools, underWay),
    attempt: (notice, signal) => attemptNotice(tools, faults, notice, signal),
    finish: (results) => store.finishNotifications(results),
    // It is asked for what is not held, and results that are being recorded are.
    findsInOrder: false,
    watch: (listener) => store.watchNotifications(listener),
  });
}

async function findNotices(
  tools: NotifierTools,
  held: readonly DueNotification[],
): Promise<Found<DueNotification>> {
  const now = tools.clock.now();
  for (const channel of NOTIFICATION_CHANNELS) await skipNotices(tools, channel, now, held);
  return await tools.store.dueNotifications({ now, held: held.map(toHeld), places: PLACES });
}

/** What is not to be sent takes no places from what is. */
async function skipNotices(
  { store, channels, onResult }: NotifierTools,
  channel: NotificationChannel,
  now: Micros,
  held: readonly DueNotification[],
): Promise<void> {
  const skip = channels[channel].toSkip();
  if (skip === null) return;
  const count = await store.skipNotifications({
    ...{ now, channel, most: MOST_SKIPPED },
    ...skip,
    held: held.map(toHeld),
  });
  if (count === 0) return;
  channels[channel].skipped(count, skip);
  for (let i = 0; i < count; i++) onResult(channel, 'skipped');
}

/** The store needs no texts. */
function toHeld({ number, userId, channel }: DueNotification): HeldNotification {
  return { number, userId, channel };
}

async function attemptNotice(
  { channels, clock, onResult }: NotifierTools,
  faults: SparseLog,
  notice: DueNotification,
  signal: AbortSignal,
): Promise<NotificationResult | null> {
  const { number, channel, alertId, attempts } = notice;
  const attempted_at = clock.now();
  try {
    const { status, detail, attempt, retryMs } = await channels[channel].send(notice, signal);
    onResult(channel, status);
    return {
      number,
      status,
      detail,
      attempt: attempt && { attempt_number: attempts + 1, attempted_at, ...attempt },
      retryAt: retryMs === null ? null : clock.now() + retryMs * 1000,
    };
  } catch (error) {
    if (signal.aborted) return null;
    faults.warn(1, { err: error, alert_id: alertId }, 'A notice could not be sent by a fault of ours');
    onResult(channel, 'failed');
    const error_message = 'The notice could not be made';
    const attempt = {
      attempt_number: attempts + 1,
      attempted_at,
      status_code: null,
      duration_ms: 0,
      error_message,
    };
    return { number, status: 'failed', detail: error_message, attempt, retryAt: null };
  }
}
