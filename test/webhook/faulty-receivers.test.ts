import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { AttemptResult } from '../../src/delivery/webhook/sender.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/http-certificate.js';
import { EARLY, EXPIRED } from '../support/webhook-certificates.js';
import { answerText, startReceiver, type Answer } from '../support/webhook-receiver.js';
import { CONNECT_TIMEOUT_MS, nextAnswerHead, startSender, TIMEOUT_MS } from '../support/webhook-sender.js';

/** What every failed attempt without an answer has. */
const NOTHING = { succeeded: false, statusCode: null, responseBody: '', isGone: false, retryAfterMs: null };
const NO_ANSWER = 'The connection ended before there was an answer';
const HALF_ANSWER = 'The connection ended before the answer was complete';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

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

interface Case {
  readonly what: string;
  readonly answer: Answer;
  readonly expected: Partial<AttemptResult>;
}

const write =
  (...pieces: readonly (string | Buffer)[]): Answer =>
  (socket) => {
    for (const piece of pieces) socket.write(piece);
    socket.end();
  };

/** Writes for ever, as fast as the other side reads. */
const pour =
  (start: string, endless: string): Answer =>
  (socket) => {
    const more = (): void => {
      while (socket.writable && socket.write(endless));
    };
    socket.on('drain', more);
    socket.write(start);
    more();
  };

const BOMB = gzipSync(Buffer.alloc(10_000_000));

const CASES: readonly Case[] = [
  {
    what: 'a reset before the answer',
    answer: (_socket, _request, raw) => raw.resetAndDestroy(),
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'an end before the answer',
    answer: (socket) => socket.end(),
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'a reset within the head of the answer',
    answer: (socket, _request, raw) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Le', () => raw.resetAndDestroy());
    },
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'a reset after the head of the answer',
    answer: (socket, _request, raw) => {
      void nextAnswerHead().then(() => raw.resetAndDestroy());
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    },
    expected: { succeeded: false, statusCode: 200, error: HALF_ANSWER },
  },
  {
    what: 'a body that is shorter than announced',
    answer: write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
    expected: { succeeded: false, statusCode: 200, responseBody: 'half', error: HALF_ANSWER },
  },
  {
    what: 'a body that is longer than announced',
    answer: write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalf more'),
    expected: { succeeded: true, statusCode: 200, responseBody: 'half', error: null },
  },
  {
    what: 'chunks that are none',
    answer: write(CHUNKED, '3\r\nabc\r\nzz\r\nabc'),
    expected: {
      succeeded: false,
      statusCode: 200,
      responseBody: 'abc',
      error: 'The answer is no valid HTTP',
    },
  },
  {
    what: 'an endless body',
    answer: pour(CHUNKED, '8\r\nendless \r\n'),
    expected: { succeeded: true, statusCode: 200, responseBody: 'endless '.repeat(2048), error: null },
  },
  {
    what: 'a gzip bomb, which stays what it is',
    answer: write(
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`,
      BOMB,
    ),
    expected: {
      succeeded: true,
      statusCode: 200,
      responseBody: decoded(BOMB),
      error: null,
    },
  },
  {
    what: 'huge headers',
    answer: write(`HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(20_000)}\r\n\r\n`),
    expected: { ...NOTHING, error: 'The headers of the answer are longer than 16384 bytes' },
  },
  {
    what: 'many headers',
    answer: write(`HTTP/1.1 200 OK\r\n${'X-More: 1\r\n'.repeat(3000)}\r\n`),
    expected: { ...NOTHING, error: 'The headers of the answer are longer than 16384 bytes' },
  },
  {
    what: 'early hints before the answer',
    answer: write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(16), answerText('200 OK', [], 'late')),
    expected: { succeeded: true, statusCode: 200, responseBody: 'late', error: null },
  },
  ...[
    ['early hints', 'HTTP/1.1 103 Early Hints\r\n\r\n', ''],
    ['empty lines', '\r\n'.repeat(100), ''],
    ['an extension of a chunk', 'x'.repeat(100), `${CHUNKED}1;`],
  ].map(([what = '', endless = '', start = '']) => ({
    what: `${what} without an end`,
    answer: pour(start, endless),
    expected: {
      succeeded: false,
      responseBody: '',
      error: 'The receiver sent too much before its answer was complete',
    },
  })),
  {
    what: 'a body of small chunks',
    answer: write(CHUNKED, '1\r\nx\r\n'.repeat(16_000), '0\r\n\r\n'),
    expected: { succeeded: true, responseBody: 'x'.repeat(16_000) },
  },
  {
    what: 'a change of protocols',
    answer: write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxx'),
    expected: { ...NOTHING, error: NO_ANSWER },
  },
  {
    what: 'another protocol',
    answer: write('SSH-2.0-OpenSSH_9.2\r\n'),
    expected: { ...NOTHING, error: 'The answer is no valid HTTP' },
  },
  {
    what: 'an answer that says its length twice',
    answer: write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    expected: { ...NOTHING, error: 'The answer is no valid HTTP' },
  },
  {
    what: '204 with a body',
    answer: write('HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody'),
    expected: { succeeded: true, statusCode: 204, responseBody: '', error: null },
  },
  {
    what: '200 without a body',
    answer: write(answerText('200 OK')),
    expected: { succeeded: true, statusCode: 200, responseBody: '', error: null, retryAfterMs: null },
  },
  {
    what: 'a body that ends with the connection',
    answer: write('HTTP/1.1 200 OK\r\n\r\nto the end'),
    expected: { succeeded: true, statusCode: 200, responseBody: 'to the end' },
  },
  {
    what: 'a body that is no UTF-8',
    answer: write(
      'HTTP/1.1 500 Oh\r\nContent-Type: text/html; charset=latin1\r\nContent-Length: 8\r\n\r\n',
      Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xe9, 0x62, 0x00, 0xc3]),
    ),
    expected: { succeeded: false, statusCode: 500, responseBody: '\ufeffa\ufffdb\u0000\ufffd', error: null },
  },
  {
    what: 'a long body that is cut within a character',
    answer: write(answerText('200 OK', [], `x${'é'.repeat(10_000)}`)),
    expected: { succeeded: true, responseBody: `x${'é'.repeat(8191)}` },
  },
  ...[301, 302, 303, 307, 308].map((status) => ({
    what: `${status}, which is not followed`,
    answer: write(answerText(`${status} Elsewhere`, ['Location: /elsewhere'], 'there')),
    expected: {
      succeeded: false,
      statusCode: status,
      responseBody: 'there',
      error: `The receiver answered ${status}: redirects are not followed, the endpoint must name the final URL`,
    },
  })),
  {
    what: '410',
    answer: write(answerText('410 Gone')),
    expected: { succeeded: false, statusCode: 410, isGone: true, error: null },
  },
  {
    what: '429 with Retry-After in seconds',
    answer: write(answerText('429 Slow down', ['Retry-After: 120'], 'slow')),
    expected: {
      succeeded: false,
      statusCode: 429,
      responseBody: 'slow',
      error: null,
      retryAfterMs: 120_000,
      isGone: false,
    },
  },
  {
    what: '503 with Retry-After as a date',
    // The clock of the tests stands at 12:00.
    answer: write(answerText('503 Later', ['Retry-After: Thu, 15 Jan 2026 12:01:30 GMT'])),
    expected: { statusCode: 503, retryAfterMs: 90_000 },
  },
  {
    what: '503 with a Retry-After that is nothing',
    answer: write(answerText('503 Later', ['Retry-After: soon'])),
    expected: { statusCode: 503, retryAfterMs: null },
  },
  {
    what: '200 with Retry-After',
    answer: write(answerText('200 OK', ['Retry-After: 120'])),
    expected: { succeeded: true, retryAfterMs: null },
  },
];

/** The start of a body, as it is kept. */
function decoded(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, 16_384), {
    stream: bytes.length >= 16_384,
  });
}

for (const { what, answer, expected } of CASES) {
  void t.test(`a receiver answers with ${what}`, async (t) => {
    t.match(await attempt(t, answer), expected);
  });
}

const BAD_TLS: readonly (readonly [string, Parameters<typeof startReceiver>[2], string])[] = [
  ['of an unknown authority', { cert: TEST_CERTIFICATE, key: TEST_KEY }, 'is not trusted'],
  ['that has expired', { cert: EXPIRED }, 'has expired'],
  ['that is not valid yet', { cert: EARLY }, 'is not valid yet'],
];

for (const [what, tls, said] of BAD_TLS) {
  void t.test(`a certificate ${what}`, async (t) => {
    const receiver = await startReceiver(t, undefined, tls);
    const { send } = await startSender(t);
    t.match(await send(receiver.url), { ...NOTHING, error: `The receiver’s certificate ${said}` });
    t.equal(receiver.requests.length, 0);
  });
}

void t.test('a certificate for another name', async (t) => {
  const receiver = await startReceiver(t);
  const { send } = await startSender(t);
  const result = await send(`https://other.test:${receiver.port}/`);
  t.match(result, { ...NOTHING, error: 'The receiver’s certificate is not for other.test' });
  t.equal(receiver.requests.length, 0);
});

void t.test('a receiver with an old TLS', async (t) => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
  const receiver = await startReceiver(t, undefined, old);
  const { send } = await startSender(t);
  const error = 'No safe connection to the receiver could be agreed on (TLS)';
  t.match(await send(receiver.url), { ...NOTHING, error });
});

/** A TCP server that does with each connection what a test wants. */
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

void t.test('a receiver without TLS', async (t) => {
  const port = await startTcp(t, (socket) => socket.end(answerText('400 Speak plainly')));
  const { send } = await startSender(t);
  const error = 'No safe connection to the receiver could be agreed on (TLS)';
  t.match(await send(`https://hook.test:${port}`), { ...NOTHING, error });
});

void t.test('a receiver that ends every connection at once', async (t) => {
  let connections = 0;
  const port = await startTcp(t, (socket) => {
    connections++;
    socket.resetAndDestroy();
  });
  const { send } = await startSender(t);
  t.match(await send(`https://hook.test:${port}`), { ...NOTHING, error: NO_ANSWER });
  t.equal(connections, 1);
});

void t.test('a receiver that never says anything', async (t) => {
  const { send, clock } = await startSender(t);
  const port = await startTcp(t, () => {
    clock.advance(CONNECT_TIMEOUT_MS);
  });
  const error = `There was no connection within ${CONNECT_TIMEOUT_MS} ms`;
  t.match(await send(`https://hook.test:${port}`), { ...NOTHING, error });
});

void t.test('a receiver that never answers', async (t) => {
  const { send, clock } = await startSender(t);
  const receiver = await startReceiver(t, () => {
    clock.advance(TIMEOUT_MS);
  });
  t.match(await send(receiver.url), {
    ...NOTHING,
    kind: 'timed_out',
    error: `There was no answer within ${TIMEOUT_MS} ms`,
  });
  await receiver.idle();
});

void t.test('a slow drip of headers, and of early hints', async (t) => {
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
      error: `There was no answer within ${TIMEOUT_MS} ms`,
    });
    await receiver.idle();
  }
});

void t.test('a slow drip of a body: what came is kept', async (t) => {
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
    error: `The answer was not complete within ${TIMEOUT_MS} ms`,
    retryAfterMs: 7000,
  });
  await receiver.idle();
});

void t.test('nobody listens', async (t) => {
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
  // One address is another way through Node than several.
  for (const addresses of [['127.0.0.1'], ['127.0.0.1', '127.0.0.1']]) {
    const { send } = await startSender(t, { names: () => addresses });
    t.match(await send(`https://hook.test:${port}`), {
      ...NOTHING,
      error: 'The receiver refused the connection',
    });
  }
});

void t.test('a name that cannot be resolved, or not in time', async (t) => {
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
    error: `There was no connection within ${CONNECT_TIMEOUT_MS} ms`,
  });
});
