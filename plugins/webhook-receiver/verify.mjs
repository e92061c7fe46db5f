import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Whether Jackdaw sent these bytes within the last five minutes.
 *
 * @param body the bytes of the request, before parsing
 * @param signature the header `X-Service-Signature`
 * @param secret the complete secret, `whsec_…`
 * @param now in seconds since 1970
 */
export function verify(body, signature, secret, now = Date.now() / 1000) {
  const time = /^t=([0-9]{1,12}),/.exec(signature)?.[1];
  if (!secret || time === undefined || Math.abs(now - Number(time)) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const given = [...signature.matchAll(/,v1=([0-9a-f]{64})(?=,|$)/g)];
  return given.some(([, hex]) => timingSafeEqual(Buffer.from(hex, 'hex'), expected));
}
