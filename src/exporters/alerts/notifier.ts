import type { Clock, Logger } from '../../component/telemetry.js';
import { DueLoop, type Found } from '../../delivery/due-loop.js';
import { MAIL_CONNECTIONS } from '../../delivery/email/mailer.js';
import { SparseLog } from '../../delivery/sparse-log.js';
import type {
  AlertStore,
  DueNotification,
  NotificationChannel,
  NotificationResult,
  NotificationStatus,
} from '../../storage/alert-store.js';
import type { Channel } from './channel.js';
import { pick, type ChannelPlaces } from './pick.js';

/** Notices under way at once. Mails never wait for a connection within their time, nor take the places of webhooks. */
const MAX_CONCURRENCY = 16;
const PLACES: ChannelPlaces = { email: MAIL_CONNECTIONS, webhook: MAX_CONCURRENCY - MAIL_CONNECTIONS };

/** Notices that are looked at for those that can begin; more where all of these are of users who have their share. */
const FIRST_LOOK = 64;
const SECOND_LOOK = 1024;

export interface NotifierTools {
  readonly store: Pick<AlertStore, 'dueNotifications' | 'finishNotifications' | 'watchNotifications'>;
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
    maxConcurrency: MAX_CONCURRENCY,
    find: (limit, underWay) => findNotices(tools, limit, underWay),
    attempt: (notice, signal) => attemptNotice(tools, faults, notice, signal),
    finish: (results) => store.finishNotifications(results),
    watch: (listener) => store.watchNotifications(listener),
  });
}

async function findNotices(
  { store, clock }: NotifierTools,
  limit: number,
  underWay: readonly DueNotification[],
): Promise<Found<DueNotification>> {
  const held = underWay.map(({ number }) => number);
  const now = clock.now();
  const look = async (most: number) => {
    const { items, nextDueAt } = await store.dueNotifications(now, most, held);
    const picked = pick(items, underWay, limit, PLACES);
    return { items: picked, nextDueAt, isWhole: items.length < most };
  };
  let found = await look(FIRST_LOOK);
  if (!found.isWhole && found.items.length < limit) found = await look(SECOND_LOOK);
  const { items, nextDueAt } = found;
  // What is due already and was not picked waits for one that is under way: its end is a call.
  return { items, nextDueAt: nextDueAt !== null && nextDueAt > now ? nextDueAt : null };
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
