import type { Micros } from '../../../signal/time.js';
import { serviceSignature, standardSignature } from './signature.js';
import { MICROS_PER_SECOND } from '../../../signal/time-units.js';

/** The contents of one attempt. */
export interface WebhookAttempt {
  /**
   * The same in every attempt and delivery of the event, so that receivers recognize repeats. It must not contain `.`, because it
   * is signed.
   */
  readonly eventId: string;
  /** `trace.failed` */
  readonly eventType: string;
  readonly deliveryId: string;
  /** From 1. */
  readonly attempt: number;
  /** The bytes that are sent: they are signed as they are. */
  readonly body: Uint8Array;
  /** The receiver's current secret; null where none was agreed on: then nothing is signed. */
  readonly secret: string | null;
}

/**
 * The headers of one attempt. The signatures contain its time, so that a late attempt is not too old for its receiver.
 *
 * @param version of Jackdaw
 */
export function attemptHeaders(
  { eventId, eventType, deliveryId, attempt, body, secret }: WebhookAttempt,
  now: Micros,
  version: string,
): Record<string, string> {
  const seconds = Math.floor(now / MICROS_PER_SECOND);
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Jackdaw-Webhooks/${version}`,
    'X-Service-Event': eventType,
    'X-Service-Delivery': deliveryId,
    'X-Service-Attempt': String(attempt),
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    ...(secret !== null && {
      'X-Service-Signature': serviceSignature(secret, seconds, body),
      'webhook-signature': standardSignature(secret, eventId, seconds, body),
    }),
  };
}
