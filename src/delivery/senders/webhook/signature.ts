import { createHmac, randomBytes } from 'node:crypto';

/** Standard Webhooks' mark of a secret. */
const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function generateSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * The value of `X-Service-Signature`, which Stripe's libraries verify: `t=1795206404,v1=<hex>`. The key is the text of the
 * whole secret, prefix included.
 *
 * @param seconds the time of this attempt, in seconds since the epoch
 */
export function serviceSignature(secret: string, seconds: number, body: Uint8Array): string {
  const mac = createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${seconds}.`).update(body);
  return `t=${seconds},v1=${mac.digest('hex')}`;
}

/**
 * The value of `webhook-signature` (Standard Webhooks): `v1,<base64>`. The key is the bytes that the secret encodes.
 *
 * @param id the value of `webhook-id`
 * @throws Error if the secret does not follow Standard Webhooks
 */
export function standardSignature(secret: string, id: string, seconds: number, body: Uint8Array): string {
  const encoded = secret.slice(PREFIX.length);
  if (!secret.startsWith(PREFIX) || encoded === '' || !BASE64.test(encoded))
    throw new Error(`a webhook secret is ${PREFIX} and the base64 of its bytes`);
  const mac = createHmac('sha256', Buffer.from(encoded, 'base64')).update(`${id}.${seconds}.`).update(body);
  return `v1,${mac.digest('base64')}`;
}
