import type { SecretBox } from '../../component/secret-box.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import type { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { attemptHeaders } from '../../delivery/senders/webhook/attempt-headers.js';
import { checkTarget } from '../../delivery/senders/webhook/check-target.js';
import { notSent } from '../../delivery/senders/webhook/not-sent.js';
import { retryDelayMs } from '../../delivery/senders/webhook/retry-plan.js';
import type { AttemptResult, WebhookSender } from '../../delivery/senders/webhook/sender.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { type DeliveryClaim, type FinishedAttempt, sealOwner } from '../../storage/contracts/deliveries.js';

export interface AttemptTools {
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Checks URLs; URLs in the store may predate it. */
  readonly policy: AddressPolicy;
  /** Opens the endpoints' secrets. */
  readonly secrets: Pick<SecretBox, 'open'>;
  /** Waits after failed attempts. */
  readonly scheduleMs: readonly number[];
  /** Of Jackdaw. */
  readonly version: string;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Receives each attempt. */
  readonly onAttempt: (claim: DeliveryClaim, startedAt: number, result: AttemptResult) => void;
}

/** Executes claimed attempts: signs, sends, and schedules the next attempt. */
export class Attempts {
  readonly #tools: AttemptTools;
  readonly #blocked: SparseLog;
  readonly #unanswered: SparseLog;
  readonly #unreadable: SparseLog;
  readonly #faults: SparseLog;

  constructor(tools: AttemptTools) {
    this.#tools = tools;
    const { logger, clock } = tools;
    this.#blocked = new SparseLog(logger, clock);
    this.#unanswered = new SparseLog(logger, clock);
    this.#unreadable = new SparseLog(logger, clock);
    this.#faults = new SparseLog(logger, clock);
  }

  /**
   * Makes one attempt. Every error is a failed attempt.
   *
   * @param signal aborts the attempt
   * @returns null if it was aborted: the request may have been sent
   */
  async make(claim: DeliveryClaim, signal: AbortSignal): Promise<FinishedAttempt | null> {
    const { clock, onAttempt } = this.#tools;
    const startedAt = clock.now();
    let result: AttemptResult;
    try {
      result = await this.#send(claim, signal);
    } catch (error) {
      if (signal.aborted) return null;
      this.#faults.warn(
        1,
        { err: error, ...placeOf(claim) },
        'A webhook could not be sent because of an internal error',
      );
      result = notSent('failed', 'Could not create the request');
    }
    onAttempt(claim, startedAt, result);
    this.#log(claim, result);
    return this.#finished(claim, result);
  }

  async #send(claim: DeliveryClaim, signal: AbortSignal): Promise<AttemptResult> {
    const { sender, policy } = this.#tools;
    const problem = checkTarget(claim.url, policy);
    if (problem !== null) return notSent('blocked', `The endpoint’s URL ${problem}`);
    const body = Buffer.from(claim.body, 'utf8');
    const headers = await this.#headers(claim, body);
    if (headers === null) return notSent('failed', 'Cannot read the endpoint’s secret; rotate it');
    return await sender.send({ url: claim.url, headers, body }, signal);
  }

  /** Signed now: with the present secret, and at a time that its receiver takes. @returns null if there is no secret */
  async #headers(claim: DeliveryClaim, body: Buffer): Promise<Record<string, string> | null> {
    const { secrets, clock, version } = this.#tools;
    const { event_id, event_type, delivery_id, attempt, endpoint_id, sealed_secret } = claim;
    try {
      const secret = await secrets.open(sealed_secret, sealOwner(endpoint_id));
      return attemptHeaders(
        { eventId: event_id, eventType: event_type, deliveryId: delivery_id, attempt, body, secret },
        clock.now(),
        version,
      );
    } catch (error) {
      this.#unreadable.warn(
        1,
        { err: error, ...placeOf(claim) },
        'Cannot read the secret of a webhook endpoint: restore the key, or rotate the secret (rotate-secret); nothing is sent until then',
      );
      return null;
    }
  }

  #log(claim: DeliveryClaim, { kind, statusCode, error, detail }: AttemptResult): void {
    const { logger } = this.#tools;
    if (kind === 'blocked')
      this.#blocked.warn(
        1,
        { ...placeOf(claim), reason: detail ?? error },
        'A webhook was not sent: its address is not allowed (see targets.allow_cidrs)',
      );
    else if (kind !== 'success' && statusCode === null)
      // The record does not contain it.
      this.#unanswered.warn(
        1,
        { ...placeOf(claim), reason: error, ...(detail !== null && { detail }) },
        'A webhook got no response',
      );
    if (kind !== 'success' && kind !== 'blocked' && logger.isDebugEnabled())
      logger.debug(
        { ...placeOf(claim), attempt: claim.attempt, status: statusCode, reason: detail ?? error },
        'A webhook was not delivered',
      );
  }

  #finished(claim: DeliveryClaim, result: AttemptResult): FinishedAttempt {
    const { delivery_id, attempt } = claim;
    const { succeeded, statusCode, responseBody, durationMs, userError, isGone } = result;
    const retryAt = this.#retryAt(claim, result);
    const ended = { succeeded, statusCode, responseBody, durationMs, error: userError, isGone, retryAt };
    return { delivery_id, attempt, ...ended };
  }

  #retryAt({ isManual, step }: DeliveryClaim, result: AttemptResult): number | null {
    const { scheduleMs, clock, random } = this.#tools;
    if (result.succeeded || result.isGone || isManual) return null;
    const delayMs = retryDelayMs(scheduleMs, step, result, random());
    return delayMs === null ? null : clock.now() + delayMs * 1000;
  }
}

/** Identifies a delivery in the log. */
function placeOf({ endpoint_id, delivery_id }: DeliveryClaim): Record<string, string> {
  return { endpoint_id, delivery_id };
}
