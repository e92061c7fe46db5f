import type { Clock, Logger, Tracer } from '../../component/telemetry.js';
import { DueLoop, type Found } from '../../delivery/senders/due-loop.js';
import { MAIL_CONNECTIONS } from '../../delivery/senders/email/mailer.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import {
  type ClaimedNotice,
  type NoticeRequest,
  type NoticeResult,
  type Notices,
  NOTIFICATION_CHANNELS,
  type NotificationChannel,
  type NotificationStatus,
} from '../../storage/contracts/alerts.js';
import type { Watch } from '../../storage/contracts/coordination.js';
import type { Channel } from './channel.js';

/** Concurrent notices by channel. Mails have one place per connection, so none waits for a connection within its time limit. */
const PLACES: NoticeRequest['free'] = { email: MAIL_CONNECTIONS, webhook: 14 };
/** Maximum per user, across all processes. */
const PLACES_OF_USER: NoticeRequest['perUser'] = { email: 1, webhook: 4 };

/** Maximum number of webhooks per host, across all processes. */
const PLACES_OF_HOST = 7;

/** Lease of a claimed notice; after it expires, another process takes it over. */
const LEASE_MS = 30_000;
/** Interval for renewing claims and for polling the store for notices left by other processes. */
const RENEW_MS = 10_000;

/** Maximum number of notices skipped in one call; the rest follows at the next poll. */
const MOST_SKIPPED = 1000;

export interface NotifierTools {
  readonly notices: Notices;
  readonly watch: Watch;
  readonly channels: Readonly<Record<NotificationChannel, Channel>>;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
  /** Called when the store begins to fail, and when everything works again. */
  readonly onStore: (isFailing: boolean) => void;
  /** Called with the result of each attempt to send a notice. */
  readonly onResult: (channel: NotificationChannel, status: NotificationStatus) => void;
}

/** Sends due notices until it is stopped. Other processes may do the same concurrently. */
export class Notifier {
  readonly #tools: NotifierTools;
  readonly #faults: SparseLog;
  readonly #loop: DueLoop<ClaimedNotice, NoticeResult>;
  /** Claimed notices whose results are not recorded. */
  readonly #held = new Map<number, ClaimedNotice>();
  #cancelRenewal: () => void = () => undefined;

  constructor(tools: NotifierTools) {
    this.#tools = tools;
    const { notices, watch, clock, logger } = tools;
    this.#faults = new SparseLog(logger, clock);
    this.#loop = new DueLoop({
      ...tools,
      sent: 'notices of alerts',
      maxConcurrency: PLACES.email + PLACES.webhook,
      find: () => this.#claim(),
      attempt: (notice, signal) => attemptNotice(tools, this.#faults, notice, signal),
      finish: async (results) => {
        await notices.finish(results);
        for (const { number } of results) this.#held.delete(number);
      },
      watch: (listener) => watch.watch('notices', listener),
    });
    this.#renewLater();
  }

  /** Stops the loop and releases the claims of aborted notices. */
  async stop(deadline: AbortSignal): Promise<void> {
    await this.#loop.stop(deadline);
    this.#cancelRenewal();
    await this.#renew(0);
  }

  async #claim(): Promise<Found<ClaimedNotice>> {
    const { notices, clock } = this.#tools;
    const now = clock.now();
    for (const channel of NOTIFICATION_CHANNELS) await skipNotices(this.#tools, channel, now);
    const free = { email: this.#free('email'), webhook: this.#free('webhook') };
    const limits = { perUser: PLACES_OF_USER, perHost: PLACES_OF_HOST };
    const found = await notices.claim({ now, free, ...limits, leaseMs: LEASE_MS });
    for (const notice of found.items) this.#held.set(notice.number, notice);
    return found;
  }

  #free(channel: NotificationChannel): number {
    let taken = 0;
    for (const held of this.#held.values()) if (held.channel === channel) taken++;
    return PLACES[channel] - taken;
  }

  #renewLater(): void {
    this.#cancelRenewal = this.#tools.clock.after(RENEW_MS, () => {
      this.#renewLater();
      void this.#renew(LEASE_MS);
      // An expired claim of another process causes no notification.
      this.#loop.wake();
    });
  }

  /** Extends all held claims by this time; 0 releases them. If that fails, another process may send the notices again. */
  async #renew(ms: number): Promise<void> {
    const claims = [...this.#held.values()].map(({ number, token }) => ({ number, token }));
    if (claims.length === 0) return;
    try {
      await this.#tools.notices.renew(claims, ms);
    } catch (error) {
      this.#faults.warn(1, { err: error }, 'Could not renew the claims of notices; they may be sent twice');
    }
  }
}

/** Skipped notices use no slots. */
async function skipNotices(
  { notices, channels, onResult }: NotifierTools,
  channel: NotificationChannel,
  now: number,
): Promise<void> {
  const skip = channels[channel].toSkip();
  if (skip === null) return;
  const count = await notices.skip({ now, channel, most: MOST_SKIPPED, ...skip });
  if (count === 0) return;
  channels[channel].skipped(count, skip);
  for (let i = 0; i < count; i++) onResult(channel, 'skipped');
}

async function attemptNotice(
  { channels, clock, tracer, onResult }: NotifierTools,
  faults: SparseLog,
  notice: ClaimedNotice,
  signal: AbortSignal,
): Promise<NoticeResult | null> {
  const { number, token, channel, alertId, attempts } = notice;
  const attempted_at = clock.now();
  try {
    const { status, detail, attempt, retryMs } = await channels[channel].send(notice, signal);
    onResult(channel, status);
    if (attempt !== null)
      tracer?.delivered(
        { name: 'deliver alert notice', kind: 'client', attributes: { 'jackdaw.channel': channel } },
        { durationMs: attempt.duration_ms, ...(status !== 'sent' && { error: 'failed' }) },
      );
    return {
      number,
      token,
      status,
      detail,
      attempt: attempt && { attempt_number: attempts + 1, attempted_at, ...attempt },
      retryAt: retryMs === null ? null : clock.now() + retryMs * 1000,
    };
  } catch (error) {
    if (signal.aborted) return null;
    faults.warn(
      1,
      { err: error, alert_id: alertId },
      'A notice could not be sent because of an internal error',
    );
    onResult(channel, 'failed');
    const error_message = 'Could not create the notice';
    const attempt = {
      attempt_number: attempts + 1,
      attempted_at,
      status_code: null,
      duration_ms: 0,
      error_message,
    };
    return { number, token, status: 'failed', detail: error_message, attempt, retryAt: null };
  }
}
