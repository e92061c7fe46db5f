import { join } from 'node:path';
import t from 'tap';
import { AddressPolicy } from '../../../../src/delivery/senders/webhook/address-policy.js';
import { WebhookSender } from '../../../../src/delivery/senders/webhook/sender.js';
import { readTrusted } from '../../../../src/delivery/senders/webhook/trusted.js';
import { HandClock } from '../../../support/hand-clock.js';
import { AUTHORITY } from '../../../support/webhook-certificates.js';
import { answerText, startReceiver, type Answer } from '../../../support/webhook-receiver.js';
import { CONNECT_TIMEOUT_MS, startSender, TIMEOUT_MS } from '../../../support/webhook-sender.js';

const keepOpen: Answer = (socket) => socket.write(answerText('200 OK', [], 'thanks'));

void t.test('sends one POST with its headers and exact bytes', async (t) => {
  const receiver = await startReceiver(t, keepOpen);
  const { sender } = await startSender(t);
  const body = Buffer.from('{"text":"é 日本 \u2028 😀"}');
  const headers = { 'Content-Type': 'application/json', 'X-Service-Event': 'trace.failed' };
  const url = `https://a.hook.test:${receiver.port}/hooks/1?token=a%20b`;
  const result = await sender.send({ url, headers, body }, new AbortController().signal);
  const { durationMs, ...rest } = result;
  t.ok(Number.isInteger(durationMs) && durationMs >= 0);
  t.strictSame(rest, {
    kind: 'success',
    succeeded: true,
    statusCode: 200,
    responseBody: 'thanks',
    error: null,
    userError: null,
    detail: null,
    isGone: false,
    retryAfterMs: null,
  });
  const [request] = receiver.requests;
  t.equal(request?.line, 'POST /hooks/1?token=a%20b HTTP/1.1');
  t.strictSame(request?.body, body);
  t.strictSame(request?.headers, {
    host: `a.hook.test:${receiver.port}`,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'x-service-event': 'trace.failed',
    'accept-encoding': 'identity',
    'content-length': String(body.length),
  });
  t.strictSame(receiver.names, ['a.hook.test']);
  t.equal(receiver.traffic.connections, 1);
});

void t.test('a burst shares connections, and another name has its own', async (t) => {
  const receiver = await startReceiver(t, keepOpen);
  const { send, sender } = await startSender(t);
  for (let i = 0; i < 20; i++) t.match(await send(receiver.url), { succeeded: true });
  const shared = receiver.traffic.connections;
  t.ok(shared < 5, `${shared} connections for 20 requests`);
  await send(`https://b.hook.test:${receiver.port}/`);
  t.equal(receiver.traffic.connections, shared + 1);
  await sender.close();
  await receiver.idle();
  t.ok(receiver.traffic.bytes > 0);
});

void t.test('failures on shared connections do not affect other requests', async (t) => {
  const ways: readonly (readonly [answer: Answer, statusCode: number | null, error: string | null])[] = [
    [keepOpen, 200, null],
    [
      (_socket, _request, raw) => raw.resetAndDestroy(),
      null,
      'The connection closed before a response arrived',
    ],
    [(socket) => socket.end(), null, 'The connection closed before a response arrived'],
    [
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
      200,
      'The connection closed before the response was complete',
    ],
    [(socket) => socket.write(answerText('204 No Content')), 204, null],
    [(socket) => socket.write('garbage\r\n'), null, 'The response is not valid HTTP'],
  ];
  const wayOf = (attempt: number) => ways[attempt % ways.length] ?? ([keepOpen, 200, null] as const);
  const receiver = await startReceiver(t, (socket, request, raw) => {
    wayOf(Number(request.line.slice('POST /'.length).split(' ')[0]))[0](socket, request, raw);
  });
  const { send } = await startSender(t);
  const wrong: unknown[] = [];
  let next = 0;
  const sendSome = async (): Promise<void> => {
    while (next < 300) {
      const attempt = next++;
      const { statusCode, error } = await send(`${receiver.url}/${attempt}`);
      const [, expectedStatus, expectedError] = wayOf(attempt);
      if (statusCode !== expectedStatus || error !== expectedError)
        wrong.push({ attempt, statusCode, error });
    }
  };
  await Promise.all(Array.from({ length: 16 }, sendSome));
  t.strictSame(wrong, []);
  t.equal(receiver.requests.length, 300, 'each was sent once');
  t.equal(new Set(receiver.requests.map(({ line }) => line)).size, 300);
});

void t.test('an aborted attempt ends immediately at any stage', async (t) => {
  const reason = new Error('the daemon stops');
  const waitingForAddress = new AbortController();
  const { send, sender } = await startSender(t, {
    resolve: () => {
      waitingForAddress.abort(reason);
      return new Promise(() => undefined);
    },
  });
  await t.rejects(send('https://hook.test/', waitingForAddress.signal), reason);
  await t.rejects(send('https://hook.test/', AbortSignal.abort(reason)), reason);
  await sender.close();

  const waitingForAnswer = new AbortController();
  const receiver = await startReceiver(t, () => {
    waitingForAnswer.abort(reason);
  });
  const other = await startSender(t);
  await t.rejects(other.send(receiver.url, waitingForAnswer.signal), reason);
  await receiver.idle();
});

void t.test('closing ends requests in progress', async (t) => {
  const { send, sender } = await startSender(t);
  const receiver = await startReceiver(t, () => {
    void sender.close();
  });
  t.match(await send(receiver.url), { succeeded: false, statusCode: null, error: /^The/ });
  await receiver.idle();
  t.match(await send(receiver.url), { succeeded: false, statusCode: null, error: /^The/ });
});

void t.test('rejects an invalid URL as a caller error', async (t) => {
  const { send } = await startSender(t);
  await t.rejects(send('hook.test'), TypeError);
});

void t.test('trusts the CA file in addition to public certificates and names an unusable one', async (t) => {
  const folder = t.testdir({
    'ca.pem': AUTHORITY,
    'text.pem': 'no certificate',
    'two.pem': `${AUTHORITY}${AUTHORITY}`,
  });
  const open = async (caFile: string | undefined): Promise<WebhookSender> =>
    new WebhookSender({
      policy: new AddressPolicy(['127.0.0.1/32']),
      trusted: await readTrusted(caFile === undefined ? undefined : join(folder, caFile)),
      timeoutMs: TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      clock: new HandClock(),
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
  await t.rejects(open('none.pem'), /cannot read .*none\.pem \(targets\.ca_file\): ENOENT/);
  await t.rejects(open('text.pem'), /text\.pem \(targets\.ca_file\) contains no certificate in PEM form/);
  const receiver = await startReceiver(t);
  const request = { url: receiver.url, headers: {}, body: Buffer.from('{}') };
  const { signal } = new AbortController();
  for (const [caFile, succeeded] of [
    ['two.pem', true],
    [undefined, false],
  ] as const) {
    const sender = await open(caFile);
    t.match(await sender.send(request, signal), { succeeded });
    await sender.close();
  }
});
