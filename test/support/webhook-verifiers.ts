import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import type { Test } from 'tap';

/** A request as received. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Verification methods of receivers: each throws on rejection. */
export const VERIFIERS: readonly (readonly [
  name: string,
  verify: (request: SignedRequest, secret: string) => unknown,
])[] = [
  ['standardwebhooks', ({ headers, body }, secret) => new Webhook(secret).verify(body, headers)],
  [
    'standardwebhooks with bytes',
    ({ headers, body }, secret) => new Webhook(secret).verify(Buffer.from(body), headers),
  ],
  ['svix', ({ headers, body }, secret) => new SvixWebhook(secret).verify(body, headers)],
  [
    'stripe',
    (request, secret) =>
      new Stripe('sk_test_none').webhooks.constructEvent(request.body, serviceSignatureOf(request), secret),
  ],
  ['by hand', verifyByHand],
];

/** Sets the time of the receivers. */
export function setReceiversClock(t: Pick<Test, 'intercept'>, seconds: number): void {
  t.intercept(Date, 'now', { value: () => seconds * 1000 });
}

/** The documented code for receivers without a library. */
function verifyByHand(request: SignedRequest, secret: string): void {
  const parts = serviceSignatureOf(request)
    .split(',')
    .map((part) => part.split('='));
  const [, time = ''] = parts.find(([name]) => name === 't') ?? [];
  const expected = createHmac('sha256', secret).update(`${time}.${request.body}`).digest();
  const isSigned = parts.some(
    ([name, hex = '']) => name === 'v1' && timingSafeEqual(expected, Buffer.from(hex, 'hex')),
  );
  if (!isSigned || Math.abs(Date.now() / 1000 - Number(time)) > 300) throw new Error('refused');
}

/** Header names may be in any case. */
function serviceSignatureOf({ headers }: SignedRequest): string {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-service-signature');
  return found?.[1] ?? '';
}
