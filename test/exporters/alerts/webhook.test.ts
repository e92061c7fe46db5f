import t, { type Test } from 'tap';
import { AddressPolicy } from '../../../src/delivery/senders/webhook/address-policy.js';
import { generateSecret } from '../../../src/delivery/senders/webhook/signature.js';
import type { Channel } from '../../../src/exporters/alerts/channel.js';
import { Notifier } from '../../../src/exporters/alerts/notifier.js';
import { WebhookChannel } from '../../../src/exporters/alerts/webhook-channel.js';
import { firedEnvelope, PlacedNotices } from '../../support/placed-notices.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';
import { answerText, startReceiver, type Answer } from '../../support/webhook-receiver.js';
import { startSender } from '../../support/webhook-sender.js';
import { setReceiversClock, VERIFIERS } from '../../support/webhook-verifiers.js';

const none: Channel = {
  toSkip: () => null,
  skipped: () => undefined,
  send: () => {
    throw new Error('there are no e-mails in this test');
  },
};

const A_SECRET = generateSecret();

/** Sends notices by webhook. @param allowed networks in addition to public ones */
async function startWebhooks(
  t: Test,
  {
    secretOf = async () => A_SECRET,
    allowed = ['127.0.0.1/32'],
  }: { secretOf?: (userId: string) => Promise<string>; allowed?: string[] } = {},
) {
  const policy = new AddressPolicy(allowed);
  const { sender, clock } = await startSender(t, { policy });
  const logger = new RecordingLogger();
  const store = await PlacedNotices.open(t, clock);
  const tools = { clock, logger, random: () => 0.5 };
  const notifier = new Notifier({
    ...tools,
    notices: store.notices,
    watch: store.watch,
    channels: {
      email: none,
      webhook: new WebhookChannel({ ...tools, sender, policy, secretOf, version: '1.2.3' }),
    },
    onStore: () => undefined,
    onResult: () => undefined,
  });
  t.teardown(() => notifier.stop(AbortSignal.abort()));
  return {
    clock,
    logger,
    store,
    post: async (webhookUrl: string) => {
      await store.put('webhook', clock.now(), { webhookUrl });
    },
    recorded: async (count: number) => {
      await until(`${count} results`, () => store.results.length === count);
      return store.results.at(-1);
    },
  };
}

const answering = (...texts: readonly string[]): Answer => {
  const left = [...texts];
  return (socket) => socket.end(left.shift() ?? answerText('200 OK'));
};

void t.test('posts a notice', async (t) => {
  const receiver = await startReceiver(t);
  const { post, recorded, clock } = await startWebhooks(t);
  await post(`${receiver.url}/alerts?token=private`);
  t.match(await recorded(1), {
    status: 'sent',
    detail: null,
    attempt: { attempt_number: 1, status_code: 200, error_message: null },
    retryAt: null,
  });
  const [request] = receiver.requests;
  const eventId = '0196f000-0000-7000-8000-000000000001';
  t.equal(request?.line, 'POST /alerts?token=private HTTP/1.1');
  t.equal(request?.body.toString(), firedEnvelope(eventId), 'the stored bytes');
  t.match(request?.headers, {
    'content-type': 'application/json',
    'user-agent': 'Jackdaw-Webhooks/1.2.3',
    'x-service-event': 'alert.fired',
    'x-service-delivery': eventId,
    'x-service-attempt': '1',
    'webhook-id': eventId,
    'webhook-timestamp': String(clock.now() / 1e6),
  });
});

void t.test('every verifier accepts the secret of its user and no other', async (t) => {
  const receiver = await startReceiver(t);
  const secret = generateSecret();
  const asked: string[] = [];
  const secretOf = async (userId: string): Promise<string> => {
    asked.push(userId);
    return secret;
  };
  const { post, recorded, clock, logger, store } = await startWebhooks(t, { secretOf });
  await post(receiver.url);
  await recorded(1);
  const [request] = receiver.requests;
  const signed = { headers: request?.headers ?? {}, body: request?.body.toString() ?? '' };
  setReceiversClock(t, clock.now() / 1e6);
  for (const [name, verify] of VERIFIERS) {
    t.doesNotThrow(() => verify(signed, secret), name);
    t.throws(() => verify(signed, generateSecret()), name);
  }
  t.strictSame(asked, [await store.userOf('a user')]);
  t.notOk(logger.lines.join('\n').includes(secret));
});

void t.test('sends nothing while the secret is unreadable, and retries later', async (t) => {
  const receiver = await startReceiver(t);
  const secretOf = async () => await Promise.reject(new Error('the key of secrets is gone'));
  const { post, recorded, logger } = await startWebhooks(t, { secretOf });
  await post(receiver.url);
  t.match(await recorded(1), { status: 'pending', detail: /with POST \/api\/v1\/me\/alert-secret$/ });
  t.equal(receiver.traffic.connections, 0);
  t.match(logger.lines.join(), /the key of secrets is gone/);
});

void t.test('retries after 5 s with the next attempt number after 500', async (t) => {
  const receiver = await startReceiver(t, answering(answerText('500 Broken')));
  const { post, recorded, clock } = await startWebhooks(t);
  await post(receiver.url);
  t.match(await recorded(1), {
    status: 'pending',
    detail: 'The receiver answered 500',
    attempt: { status_code: 500, error_message: 'The receiver answered 500' },
    retryAt: clock.now() + 5_000_000,
  });
  await receiver.idle();
  clock.advance(5000);
  t.match(await recorded(2), { status: 'sent', attempt: { attempt_number: 2 } });
  t.equal(receiver.requests[1]?.headers['x-service-attempt'], '2');
  t.equal(receiver.requests[1]?.headers['webhook-id'], receiver.requests[0]?.headers['webhook-id']);
});

void t.test('waits by the schedule and by Retry-After', async (t) => {
  const broken = answerText('500 Broken');
  const later = answerText('503 Later', ['Retry-After: 480']);
  const receiver = await startReceiver(t, answering(broken, later, broken, broken, broken, broken));
  const { post, recorded, clock } = await startWebhooks(t);
  await post(receiver.url);
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 6; attempt++) {
    const result = await recorded(attempt);
    await receiver.idle();
    if (!result || result.retryAt === null) break;
    const waitMs = (result.retryAt - clock.now()) / 1000;
    waits.push(waitMs / 1000);
    clock.advance(waitMs);
  }
  t.strictSame(waits, [5, 480, 1800, 7200, 21_600]);
  t.equal(receiver.requests.length, 6);
});

void t.test('stops after 410 and follows no redirects', async (t) => {
  const other = await startReceiver(t);
  const redirect = answerText('302 Found', [`Location: ${other.url}/`]);
  const receiver = await startReceiver(t, answering(answerText('410 Gone'), redirect));
  const { post, recorded, store } = await startWebhooks(t);
  await post(receiver.url);
  t.match(await recorded(1), { status: 'failed', attempt: { status_code: 410 }, retryAt: null });
  await receiver.idle();
  await post(receiver.url);
  t.match(await recorded(2), {
    status: 'pending',
    detail: /^The receiver answered 302: redirects are not followed/,
    attempt: { status_code: 302 },
  });
  t.equal(other.traffic.connections, 0);
  t.equal(store.results.length, 2);
});

void t.test('sends nothing to private addresses, given directly or by name', async (t) => {
  const receiver = await startReceiver(t);
  const { post, recorded, logger } = await startWebhooks(t, { allowed: [] });
  await post(`https://127.0.0.1:${receiver.port}/?token=private`);
  t.match(await recorded(1), {
    status: 'pending',
    detail: 'The alert’s webhook_url must be reachable from the public internet: 127.0.0.1 is not allowed',
    attempt: { status_code: null },
  });
  await post(`${receiver.url}/?token=private`);
  t.match(await recorded(2), { status: 'pending', detail: /^The host of the URL has no allowed address/ });
  await post('http://hook.test/');
  t.match(await recorded(3), { detail: 'The alert’s webhook_url must be an https URL' });
  t.strictSame(receiver.traffic, { connections: 0, bytes: 0 });
  t.match(logger.lines.join('\n'), /its address is not allowed \(see targets\.allow_cidrs\)/);
  t.notMatch(logger.lines.join('\n'), /private/);
});

void t.test('a silent receiver times out after 15 seconds', async (t) => {
  const receiver = await startReceiver(t, () => undefined);
  const { post, recorded, clock } = await startWebhooks(t);
  await post(receiver.url);
  await until('it is asked', () => receiver.requests.length === 1);
  clock.advance(15_000);
  t.match(await recorded(1), { status: 'pending', detail: /^No valid HTTPS response arrived in time/ });
});
