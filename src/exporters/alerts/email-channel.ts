import type { Clock, Logger } from '../../component/telemetry.js';
import type { Mailer, MailResult } from '../../delivery/senders/email/mailer.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { retryDelayMs } from '../../delivery/senders/webhook/retry-plan.js';
import type { ClaimedNotice } from '../../storage/contracts/alerts.js';
import { alertMail } from './alert-mail.js';
import { failed, sent, type Channel, type Outcome, type Skip } from './channel.js';
import { MS_PER_MINUTE, MICROS_PER_HOUR } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';

/** The period in which a user gets a limited number of mails. */
const PERIOD = MICROS_PER_HOUR;
const MOST = 20;

/** Limits the e-mails of an alert. A restart resets the count. */
class MailCap {
  readonly #clock: Clock;
  /** The mails of the last hour by user, the oldest first. */
  readonly #sent = new Map<string, Micros[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a user may get one more mail; if so, it counts. */
  take(userId: string): boolean {
    const now = this.#clock.now();
    this.#forget(now);
    const times = this.#sent.get(userId) ?? [];
    if (times.length >= MOST) return false;
    times.push(now);
    this.#sent.set(userId, times);
    return true;
  }

  /** Users who have reached their limit. */
  usedUp(): readonly string[] {
    this.#forget(this.#clock.now());
    return [...this.#sent].flatMap(([userId, times]) => (times.length >= MOST ? [userId] : []));
  }

  #forget(now: Micros): void {
    for (const [userId, times] of this.#sent) {
      // If the clock was set back, mails must not stop for longer than the period.
      const kept = times.filter((time) => time > now - PERIOD && time <= now);
      if (kept.length === 0) this.#sent.delete(userId);
      else this.#sent.set(userId, kept);
    }
  }
}

/** Waits after failed attempts. */
const SCHEDULE_MS = [1, 5, 30, 120, 360].map((minutes) => minutes * MS_PER_MINUTE);

const NOT_CONFIGURED = 'smtp_not_configured';
const TOO_MANY = 'too_many_emails';

/** Mail servers send no `Retry-After`. */
const AS_PLANNED = { kind: 'failed', statusCode: null, retryAfterMs: null } as const;

export interface EmailTools {
  /** Null if no mail server is configured. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Sends notices to the addresses of their users. */
export class EmailChannel implements Channel {
  readonly #tools: EmailTools;
  readonly #cap: MailCap;
  readonly #skipped: SparseLog;
  readonly #failures: SparseLog;

  constructor(tools: EmailTools) {
    this.#tools = tools;
    const { clock, logger } = tools;
    this.#cap = new MailCap(clock);
    this.#skipped = new SparseLog(logger, clock);
    this.#failures = new SparseLog(logger, clock);
  }

  toSkip(): Skip | null {
    if (this.#tools.mailer === null) return { detail: NOT_CONFIGURED, userIds: null };
    const userIds = this.#cap.usedUp();
    return userIds.length === 0 ? null : { detail: TOO_MANY, userIds };
  }

  skipped(count: number, { detail }: Skip): void {
    this.#skipped.warn(
      count,
      { reason: detail },
      detail === NOT_CONFIGURED
        ? 'Skipped e-mail notices: no mail server is configured (smtp.host)'
        : 'Skipped e-mail notices: the limit is 20 per user and hour',
    );
  }

  async send(notice: ClaimedNotice, signal: AbortSignal): Promise<Outcome> {
    const { mailer } = this.#tools;
    // The notice may have become due after the last call of {@link toSkip}.
    if (mailer === null) return this.#skip(NOT_CONFIGURED);
    // A mail that was counted once may be tried again.
    if (notice.attempts === 0 && !this.#cap.take(notice.userId)) return this.#skip(TOO_MANY);
    const result = await mailer.send(
      { to: notice.email, messageName: `${notice.eventId}.alert`, ...alertMail(notice.body) },
      signal,
    );
    return this.#outcome(notice, result);
  }

  #skip(detail: string): Outcome {
    this.skipped(1, { detail, userIds: null });
    return { status: 'skipped', detail, attempt: null, retryMs: null };
  }

  #outcome(notice: ClaimedNotice, result: MailResult): Outcome {
    const { random } = this.#tools;
    if (result.kind === 'sent') return sent(result.statusCode, result.durationMs);
    const { alertId, attempts } = notice;
    this.#failures.warn(
      1,
      { alert_id: alertId, attempt: attempts + 1, status: result.statusCode, reason: result.detail },
      'A notice could not be sent by e-mail',
    );
    if (result.kind === 'permanent') return failed(result, null);
    return failed(result, retryDelayMs(SCHEDULE_MS, attempts, AS_PLANNED, random()));
  }
}
