import type { Clock, Logger } from '../../component/telemetry.js';
import type { Mailer, MailResult } from '../../delivery/email/mailer.js';
import { SparseLog } from '../../delivery/sparse-log.js';
import { retryDelayMs } from '../../delivery/webhook/retry-plan.js';
import type { DueNotification } from '../../storage/alert-store.js';
import { alertMail } from './alert-mail.js';
import { failed, sent, type Channel, type Outcome } from './channel.js';
import { MailCap } from './mail-cap.js';

const MINUTE_MS = 60_000;
/** Waits after failed attempts. */
const SCHEDULE_MS = [1, 5, 30, 120, 360].map((minutes) => minutes * MINUTE_MS);

/** A mail server asks for no wait of its own. */
const AS_PLANNED = { kind: 'failed', statusCode: null, retryAfterMs: null } as const;

export interface EmailTools {
  /** Null where no mail server is configured. */
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

  async send(notice: DueNotification, signal: AbortSignal): Promise<Outcome> {
    const { mailer } = this.#tools;
    if (mailer === null) return this.#skip(notice, 'smtp_not_configured');
    // What was counted once may be tried again.
    if (notice.attempts === 0 && !this.#cap.take(notice.userId)) return this.#skip(notice, 'too_many_emails');
    const result = await mailer.send(
      { to: notice.email, messageName: `${notice.eventId}.alert`, ...alertMail(notice.body) },
      signal,
    );
    return this.#outcome(notice, result);
  }

  #skip({ alertId }: DueNotification, reason: 'smtp_not_configured' | 'too_many_emails'): Outcome {
    this.#skipped.warn(
      1,
      { alert_id: alertId, reason },
      reason === 'smtp_not_configured'
        ? 'A notice was not sent by e-mail: no mail server is configured (smtp.host)'
        : 'A notice was not sent by e-mail: its user had 20 within an hour',
    );
    return { status: 'skipped', detail: reason, attempt: null, retryMs: null };
  }

  #outcome(notice: DueNotification, result: MailResult): Outcome {
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
