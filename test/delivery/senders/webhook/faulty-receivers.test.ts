import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { AttemptResult } from '../../../../src/delivery/senders/webhook/sender.js';
import { FAULTY_ANSWERS, NOTHING, NO_ANSWER } from '../../../support/faulty-answers.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../support/http-certificate.js';
import { EARLY, EXPIRED } from '../../../support/webhook-certificates.js';
import { answerText, startReceiver, type Answer } from '../../../support/webhook-receiver.js';
import {
  CONNECT_TIMEOUT_MS,
  nextAnswerHead,
  startSender,
  TIMEOUT_MS,
} from '../../../support/webhook-sender.js';

async function attempt(
  t: Test,
  answer: Answer,
  tls: Parameters<typeof startReceiver>[2] = {},
): Promise<AttemptResult> {
  const receiver = await startReceiver(t, answer, tls);
  const { send } = await startSender(t);
  const result = await send(receiver.url);
  await receiver.idle();
  t.equal(receiver.requests.length <= 1, true, 'nothing is sent twice');
  return result;
}

for (const { what, answer, expected } of FAULTY_ANSWERS) {
  void t.test(`a receiver answers with ${what}`, async (t) => {
    t.match(await attempt(t, answer), expected);
  });
}

const BAD_TLS: readonly (readonly [string, Parameters<typeof startReceiver>[2], string])[] = [
  ['of an unknown authority', { cert: TEST_CERTIFICATE, key: TEST_KEY }, 'is not trusted'],
  ['that has expired', { cert: EXPIRED }, 'has expired'],
  ['that is not valid yet', { cert: EARLY }, 'is not valid yet'],
];

for (const [what, tls, expected] of BAD_TLS) {
  void t.test(`a certificate ${what}`, async (t) => {
    const receiver = await startReceiver(t, undefined, tls);
    const { send } = await startSender(t);
    t.match(await send(receiver.url), { ...NOTHING, error: `The receiver’s certificate ${expected}` });
    t.equal(receiver.requests.length, 0);
  });
}

void t.test('reports a certificate for another name', async (t) => {
  const receiver = await startReceiver(t);
  const { send } = await startSender(t);
  const result = await send(`https://other.test:${receiver.port}/`);
  t.match(result, { ...NOTHING, error: 'The receiver’s certificate is not for other.test' });
  t.equal(receiver.requests.length, 0);
});

void t.test('reports a receiver with an old TLS version', async (t) => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
  const receiver = await startReceiver(t, undefined, old);
  const { send } = await startSender(t);
  const error = 'The TLS handshake with the receiver failed';
  t.match(await send(receiver.url), { ...NOTHING, error });
});

/** A TCP server that handles each connection as a test specifies. */
async function startTcp(t: Test, onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    t.teardown(() => socket.destroy());
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

void t.test('reports a receiver without TLS', async (t) => {
  const port = await startTcp(t, (socket) => socket.end(answerText('400 Speak plainly')));
  const { send } = await startSender(t);
  const error = 'The TLS handshake with the receiver failed';
  t.match(await send(`https://hook.test:${port}`), { ...NOTHING, error });
});

void t.test('reports a receiver that resets every connection', async (t) => {
  let connections = 0;
  const port = await startTcp(t, (socket) => {
    connections++;
    socket.resetAndDestroy();
  });
  const { send } = await startSender(t);
  t.match(await send(`https://hook.test:${port}`), { ...NOTHING, error: NO_ANSWER });
  t.equal(connections, 1);
});

void t.test('times out without a TLS handshake', async (t) => {
  const { send, clock } = await startSender(t);
  const port = await startTcp(t, () => {
    clock.advance(CONNECT_TIMEOUT_MS);
  });
  const error = `No connection within ${CONNECT_TIMEOUT_MS} ms`;
  t.match(await send(`https://hook.test:${port}`), { ...NOTHING, error });
});

void t.test('times out without a response', async (t) => {
  const { send, clock } = await startSender(t);
  const receiver = await startReceiver(t, () => {
    clock.advance(TIMEOUT_MS);
  });
  t.match(await send(receiver.url), {
    ...NOTHING,
    kind: 'timed_out',
    error: `No response within ${TIMEOUT_MS} ms`,
  });
  await receiver.idle();
});

void t.test('times out on a slow drip of headers and early hints', async (t) => {
  for (const drip of ['X-Slow: 1\r\n', 'HTTP/1.1 102 Processing\r\n\r\n']) {
    const { send, clock } = await startSender(t);
    const receiver = await startReceiver(t, (socket) => {
      let drops = 0;
      const timer = setInterval(() => {
        socket.write(drops === 0 && drip.startsWith('X') ? 'HTTP/1.1 200 OK\r\n' : drip);
        if (++drops === 5) clock.advance(TIMEOUT_MS);
      }, 1);
      socket.on('close', () => {
        clearInterval(timer);
      });
    });
    t.match(await send(receiver.url), {
      ...NOTHING,
      error: `No response within ${TIMEOUT_MS} ms`,
    });
    await receiver.idle();
  }
});

void t.test('keeps the received part of a slowly dripping body', async (t) => {
  const { send, clock } = await startSender(t);
  const receiver = await startReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nRetry-After: 7\r\n\r\n');
    const timer = setInterval(() => socket.write('drip '), 1);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
  void nextAnswerHead().then(() => {
    setImmediate(() => {
      clock.advance(TIMEOUT_MS);
    });
  });
  const result = await send(receiver.url);
  t.match(result, {
    succeeded: false,
    statusCode: 200,
    responseBody: /^(drip ?)*/,
    error: `The response was not complete within ${TIMEOUT_MS} ms`,
    retryAfterMs: 7000,
  });
  await receiver.idle();
});

void t.test('reports a closed port', async (t) => {
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
  const names = new Set<string | null>();
  // Node handles one address and several differently.
  for (const addresses of [['127.0.0.1'], ['127.0.0.1', '127.0.0.1']]) {
    const { send } = await startSender(t, { names: () => addresses });
    const result = await send(`https://hook.test:${port}`);
    t.match(result, { ...NOTHING, error: 'The receiver refused the connection' });
    names.add(result.userError);
  }
  const mute = await startTcp(t, (socket) => socket.resetAndDestroy());
  const stranger = await startReceiver(t, undefined, { cert: TEST_CERTIFICATE, key: TEST_KEY });
  const { send } = await startSender(t);
  for (const url of [`https://hook.test:${mute}`, stranger.url]) names.add((await send(url)).userError);
  t.match([...names], [/^No valid HTTPS response arrived in time\. Check/]);
  t.equal(names.size, 1, 'users cannot tell open ports from closed ones');
});

void t.test('shows users the same error for names without addresses and with internal ones', async (t) => {
  const results = [];
  for (const names of [[], ['10.0.0.5']]) {
    const { send } = await startSender(t, { names: () => names });
    const { userError, durationMs } = await send('https://hook.test/');
    results.push({ userError, durationMs });
  }
  t.match(results[0], { userError: /^The host of the URL has no allowed address\. Check/, durationMs: 0 });
  t.strictSame(results[1], results[0]);
});

void t.test('reports a name that cannot be resolved, or not in time', async (t) => {
  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    const { send } = await startSender(t, {
      resolve: async () => {
        throw Object.assign(new Error(`getaddrinfo ${code} 10.0.0.53`), { code });
      },
    });
    t.match(await send('https://hook.test/x'), {
      ...NOTHING,
      error: 'The host name hook.test cannot be resolved',
    });
  }
  const nowhere = await startSender(t, { names: () => [] });
  t.match(await nowhere.send('https://hook.test/x'), { error: 'The host name hook.test cannot be resolved' });

  const hanging = await startSender(t, {
    resolve: () =>
      new Promise(() => {
        setImmediate(() => {
          hanging.clock.advance(CONNECT_TIMEOUT_MS);
        });
      }),
  });
  t.match(await hanging.send('https://hook.test/x'), {
    ...NOTHING,
    error: `No connection within ${CONNECT_TIMEOUT_MS} ms`,
  });
});
