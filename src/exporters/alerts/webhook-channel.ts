import type { Clock, Logger } from '../../component/telemetry.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { attemptHeaders } from '../../delivery/senders/webhook/attempt-headers.js';
import { checkTarget } from '../../delivery/senders/webhook/check-target.js';
import { notSent } from '../../delivery/senders/webhook/not-sent.js';
import { retryDelayMs } from '../../delivery/senders/webhook/retry-plan.js';
import type { AttemptResult, WebhookSender } from '../../delivery/senders/webhook/sender.js';
import type { ClaimedNotice } from '../../storage/contracts/alerts.js';
import { failed, sent, type Channel, type Outcome } from './channel.js';

const SECOND_MS = 1000;
/** Waits after failed attempts: 5 s, 5 min, 30 min, 2 h, 6 h. */
const SCHEDULE_MS = [5, 300, 1800, 7200, 21_600].map((seconds) => seconds * SECOND_MS);

export interface WebhookTools {
  readonly sender: Pick<WebhookSender, 'send'>;
  /** The policy that checks URLs; URLs in the store may predate it. */
  readonly policy: AddressPolicy;
  /** Returns the secret that signs the webhooks of a user. Throws if it cannot be read. */
  readonly secretOf: (userId: string) => Promise<string>;
  /** Version of Jackdaw. */
  readonly version: string;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Posts notices to the URLs of their alerts. */
export class WebhookChannel implements Channel {
  readonly #tools: WebhookTools;
  readonly #blocked: SparseLog;
  readonly #unanswered: SparseLog;
  readonly #secrets: SparseLog;

  constructor(tools: WebhookTools) {
    this.#tools = tools;
    this.#blocked = new SparseLog(tools.logger, tools.clock);
    this.#unanswered = new SparseLog(tools.logger, tools.clock);
    this.#secrets = new SparseLog(tools.logger, tools.clock);
  }

  toSkip(): null {
    return null;
  }

  skipped(): void {
    // Nothing to skip.
  }

  async send(notice: ClaimedNotice, signal: AbortSignal): Promise<Outcome> {
    const result = await this.#post(notice, signal);
    this.#log(notice, result);
    const { statusCode, durationMs, isGone } = result;
    if (result.succeeded) return sent(statusCode, durationMs);
    const error = result.userError ?? `The receiver answered ${statusCode ?? 'nothing'}`;
    const { random } = this.#tools;
    const retryMs = isGone ? null : retryDelayMs(SCHEDULE_MS, notice.attempts, result, random());
    return failed({ statusCode, durationMs, error }, retryMs);
  }

  async #post(
    { webhookUrl, body: text, eventId, attempts, userId }: ClaimedNotice,
    signal: AbortSignal,
  ): Promise<AttemptResult> {
    const { sender, policy, secretOf, version, clock } = this.#tools;
    const url = webhookUrl ?? '';
    const problem = checkTarget(url, policy);
    if (problem !== null) return notSent('blocked', `The alert’s webhook_url ${problem}`);
    let secret: string;
    try {
      secret = await secretOf(userId);
    } catch (error) {
      this.#secrets.warn(1, { err: error }, 'Cannot read the secret of an alert webhook');
      return notSent(
        'failed',
        'Cannot read the secret of the alert webhooks: create a new one with POST /api/v1/me/alert-secret',
      );
    }
    const body = Buffer.from(text, 'utf8');
    const attempt = {
      eventId,
      deliveryId: eventId,
      eventType: 'alert.fired',
      attempt: attempts + 1,
      body,
      secret,
    };
    return await sender.send({ url, headers: attemptHeaders(attempt, clock.now(), version), body }, signal);
  }

  #log({ alertId, attempts }: ClaimedNotice, { kind, statusCode, error, detail }: AttemptResult): void {
    const { logger } = this.#tools;
    const reason = detail ?? error;
    if (kind === 'blocked')
      this.#blocked.warn(
        1,
        { alert_id: alertId, reason },
        'A notice was not sent: its address is not allowed (see targets.allow_cidrs)',
      );
    else if (kind !== 'success' && statusCode === null)
      // The notice does not record the cause.
      this.#unanswered.warn(
        1,
        { alert_id: alertId, reason: error, ...(detail !== null && { detail }) },
        'A notice webhook got no response',
      );
    if (kind !== 'success' && kind !== 'blocked' && logger.isDebugEnabled())
      logger.debug(
        { alert_id: alertId, attempt: attempts + 1, status: statusCode, reason },
        'A notice webhook was not delivered',
      );
  }
}
