import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import t from 'tap';
import { attemptHeaders } from '../../../../src/delivery/senders/webhook/attempt-headers.js';
import { generateSecret, standardSignature } from '../../../../src/delivery/senders/webhook/signature.js';
import { HandClock } from '../../../support/hand-clock.js';
import { readProjectFile } from '../../../support/project-file.js';
import { setReceiversClock, VERIFIERS, type SignedRequest } from '../../../support/webhook-verifiers.js';

interface Vector {
  readonly name: string;
  readonly secret: string;
  /** Seconds since the epoch. */
  readonly received_at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly valid: boolean;
}

const { vectors } = JSON.parse(readProjectFile('plugins/webhook-receiver/signatures.json')) as {
  readonly vectors: readonly Vector[];
};

for (const { name, secret, received_at, valid, ...request } of vectors) {
  void t.test(`${name}: ${valid ? 'accepted' : 'refused'} by all verifiers`, async (t) => {
    setReceiversClock(t, received_at);
    for (const [verifier, verify] of VERIFIERS) {
      const verified = (): unknown => verify(request, secret);
      if (valid) t.doesNotThrow(verified, verifier);
      else t.throws(verified, verifier);
    }
  });
}

void t.test('the vectors match what Jackdaw sends', async (t) => {
  for (const name of ['valid', 'unicode', 'empty object']) {
    const vector = vectors.find((vector) => vector.name === name);
    if (!vector) throw new Error(`no vector is named ${name}`);
    const headers = attemptHeaders(
      {
        eventId: vector.headers['webhook-id'] ?? '',
        eventType: 'trace.failed',
        deliveryId: 'd',
        attempt: 1,
        body: Buffer.from(vector.body),
        secret: vector.secret,
      },
      vector.received_at * 1_000_000 + 999_999,
      '1.2.3',
    );
    t.match(headers, vector.headers);
  }
});

const SECRET = generateSecret();
const BODY = '{"id":"01950000-0000-7000-8000-000000000002","data":{"name":"Bericht – 日本 \u2028 😀"}}';
const ATTEMPT = {
  eventId: '01950000-0000-7000-8000-000000000002',
  eventType: 'alert.fired',
  deliveryId: '01950000-0000-7000-8000-000000000003',
  attempt: 2,
  body: Buffer.from(BODY),
  secret: SECRET,
};

void t.test('an attempt has the headers of both schemes', async (t) => {
  t.strictSame(
    Object.entries(attemptHeaders(ATTEMPT, 1_795_206_404_500_000, '1.2.3')).filter(
      ([name]) => !/signature$/i.test(name),
    ),
    [
      ['Content-Type', 'application/json'],
      ['User-Agent', 'Jackdaw-Webhooks/1.2.3'],
      ['X-Service-Event', 'alert.fired'],
      ['X-Service-Delivery', '01950000-0000-7000-8000-000000000003'],
      ['X-Service-Attempt', '2'],
      ['webhook-id', '01950000-0000-7000-8000-000000000002'],
      ['webhook-timestamp', '1795206404'],
    ],
  );
  const unsigned = attemptHeaders({ ...ATTEMPT, secret: null }, 0, '1.2.3');
  t.equal(unsigned['webhook-id'], ATTEMPT.eventId);
  t.notOk(Object.keys(unsigned).some((name) => /signature/i.test(name)));
});

void t.test('signs each attempt at its own time, so that late ones are accepted', async (t) => {
  const clock = new HandClock();
  for (const hoursLater of [0, 75]) {
    clock.advance(hoursLater * 3_600_000);
    const headers = attemptHeaders(ATTEMPT, clock.now(), '1.2.3');
    setReceiversClock(t, clock.now() / 1_000_000);
    for (const [verifier, verify] of VERIFIERS)
      t.doesNotThrow(() => verify({ headers, body: BODY }, SECRET), verifier);
  }
});

void t.test('verifiers reject altered, time-shifted and foreign signatures', async (t) => {
  const clock = new HandClock();
  const now = clock.now() / 1_000_000;
  const headers = attemptHeaders(ATTEMPT, clock.now(), '1.2.3');
  const old = attemptHeaders({ ...ATTEMPT, secret: generateSecret() }, clock.now(), '1.2.3');
  const moved = (name: string): string => (headers[name] ?? '').replace(String(now), String(now + 1));
  const cases: readonly (readonly [what: string, request: SignedRequest, at: number])[] = [
    ['another body', { headers, body: BODY.replace('data', 'Data') }, now],
    ['a body with one byte more', { headers, body: `${BODY} ` }, now],
    ['too late', { headers, body: BODY }, now + 301],
    [
      'another time',
      {
        headers: {
          ...headers,
          'X-Service-Signature': moved('X-Service-Signature'),
          'webhook-timestamp': moved('webhook-timestamp'),
        },
        body: BODY,
      },
      now,
    ],
    ['the secret before a rotation', { headers: old, body: BODY }, now],
  ];
  for (const [what, request, at] of cases) {
    setReceiversClock(t, at);
    for (const [verifier, verify] of VERIFIERS)
      t.throws(() => verify(request, SECRET), `${verifier}: ${what}`);
  }
  // The other scheme does not sign the id, but the body contains it as well.
  setReceiversClock(t, now);
  const swapped = { headers: { ...headers, 'webhook-id': ATTEMPT.deliveryId }, body: BODY };
  t.throws(() => new Webhook(SECRET).verify(swapped.body, swapped.headers));
  t.throws(() => new SvixWebhook(SECRET).verify(swapped.body, swapped.headers));
});

void t.test('secrets are unique and have 32 bytes', async (t) => {
  const secrets = Array.from({ length: 100 }, generateSecret);
  t.equal(new Set(secrets).size, 100);
  for (const secret of secrets) t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
});

void t.test('throws for an invalid Standard Webhooks secret', async (t) => {
  for (const secret of ['', 'whsec_', 'secret', 'WHSEC_AAAA', 'whsec_A', 'whsec_AA-_', 'whsec_AAAA AAAA'])
    t.throws(() => standardSignature(secret, 'id', 0, ATTEMPT.body), /a webhook secret is whsec_/, secret);
});
