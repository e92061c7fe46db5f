import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { ENGINES, pause, startListener, type TestListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const HOST = 'Host: localhost\r\n';

/** A raw request and its expected result. */
interface Case {
  readonly name: string;
  /** Sent in sequence, each in its own segment. */
  readonly sent: readonly string[];
  readonly status: number;
  /** Code of the problem; absent if the route responds. */
  readonly code?: string;
  /** Handled inside uWebSockets.js: its own status, or none for seconds, which is not tested. */
  readonly uws?: number | 'waits' | 'closes';
}

const lines = (...parts: readonly string[]): string => `${parts.join('\r\n')}\r\n\r\n`;
const CHUNKS = '3\r\nabc\r\n0\r\n\r\n';

function post(headers: readonly string[], body: string): string[] {
  return [lines('POST / HTTP/1.1', 'Host: localhost', ...headers) + body];
}

const TAKEN: readonly Case[] = [
  { name: 'HTTP/1.0 without a Host', sent: ['GET / HTTP/1.0\r\n\r\n'], status: 200, uws: 505 },
  {
    name: 'HTTP/1.0 as nginx speaks it to what is behind it',
    sent: [lines('POST / HTTP/1.0', 'Host: 127.0.0.1', 'Connection: close', 'Content-Length: 3') + 'abc'],
    status: 200,
    uws: 505,
  },
  {
    name: 'HTTP/1.0 that expects something, which it cannot',
    sent: [lines('POST / HTTP/1.0', 'Expect: 100-continue', 'Content-Length: 3') + 'abc'],
    status: 200,
    uws: 505,
  },
  {
    name: 'a head in many segments',
    sent: ['GE', 'T / HT', 'TP/1.1\r', `\n${HOST}`, '\r', '\n'],
    status: 200,
    uws: 505,
  },
  {
    name: 'a head whose headers are in two segments',
    sent: [`POST / HTTP/1.1\r\n${HOST}Content-Le`, 'ngth: 3\r\n\r', '\na', 'bc'],
    status: 200,
  },
  { name: 'chunks', sent: post(['Transfer-Encoding: chunked'], CHUNKS), status: 200 },
  { name: 'chunks in capitals', sent: post(['TRANSFER-ENCODING: CHUNKED'], CHUNKS), status: 200 },
  {
    name: 'chunks with extensions',
    sent: post(['Transfer-Encoding: chunked'], '3;a=b\r\nabc\r\n0\r\n\r\n'),
    status: 200,
    uws: 'waits',
  },
  {
    name: 'chunks with trailers',
    sent: post(['Transfer-Encoding: chunked', 'Trailer: X-Sum'], '3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n'),
    status: 200,
    uws: 505,
  },
  {
    name: 'a target in absolute form',
    sent: [lines('GET http://localhost/?a=b HTTP/1.1', 'Host: localhost')],
    status: 200,
    uws: 505,
  },
  {
    name: '60 headers',
    sent: [
      lines('GET / HTTP/1.1', 'Host: localhost', ...Array.from({ length: 60 }, (_, at) => `X-${at}: a`)),
    ],
    status: 200,
    uws: 'waits',
  },
  {
    name: 'an upgrade that is not taken',
    sent: [lines('GET / HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', 'Upgrade: h2c')],
    status: 200,
  },
  {
    name: 'what transfer codings its sender would take',
    sent: post(['TE: gzip, trailers', 'Content-Length: 3'], 'abc'),
    status: 200,
  },
  {
    name: 'a plus sign and escapes in a query',
    sent: [lines('GET /?a=b+c%20%C3%A9&%2B HTTP/1.1', 'Host: localhost')],
    status: 200,
  },
];

const invalid = (
  name: string,
  sent: readonly string[],
  more: Partial<Pick<Case, 'status' | 'code' | 'uws'>> = {},
): Case => ({ name, sent, status: 400, code: 'invalid_request', ...more });

const UNSUPPORTED = { status: 501, code: 'unsupported_transfer_encoding' };

const REFUSED: readonly Case[] = [
  invalid('no Host', ['GET / HTTP/1.1\r\n\r\n'], { uws: 'waits' }),
  invalid('two Hosts', [`GET / HTTP/1.1\r\n${HOST}host: elsewhere\r\n\r\n`]),
  invalid('one Host twice', [`GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`]),
  invalid('two keys', [
    lines('GET / HTTP/1.1', 'Host: localhost', 'Authorization: Bearer a', 'AUTHORIZATION: Bearer b'),
  ]),
  invalid('two lengths', post(['Content-Length: 3', 'Content-Length: 3'], 'abc')),
  invalid('a list of lengths', post(['Content-Length: 3, 3'], 'abc'), { uws: 400 }),
  invalid('an empty length', post(['Content-Length:'], 'abc')),
  invalid('a length with a sign', post(['Content-Length: +3'], 'abc'), { uws: 400 }),
  invalid('a length beside chunks', post(['Content-Length: 3', 'Transfer-Encoding: chunked'], CHUNKS), {
    uws: 400,
  }),
  invalid('an empty transfer coding', post(['Transfer-Encoding:', 'Content-Length: 3'], 'abc')),
  invalid('chunks twice', post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], CHUNKS)),
  invalid('chunks of chunks', post(['Transfer-Encoding: chunked, chunked'], CHUNKS), { uws: 501 }),
  invalid('chunks that are not the last coding', post(['Transfer-Encoding: chunked, identity'], CHUNKS), {
    uws: 501,
  }),
  invalid('gzip as the last coding', post(['Transfer-Encoding: gzip'], 'abc'), UNSUPPORTED),
  invalid('gzip in chunks', post(['Transfer-Encoding: gzip, chunked'], CHUNKS), UNSUPPORTED),
  invalid('a coding that only looks like chunks', post(['Transfer-Encoding: xchunked'], CHUNKS), UNSUPPORTED),
  invalid(
    'chunks in HTTP/1.0',
    [lines('POST / HTTP/1.0', 'Host: localhost', 'Transfer-Encoding: chunked') + CHUNKS],
    { uws: 505 },
  ),
  // Harmless with uWebSockets.js, which reads nothing after it: see the last test.
  ...[
    '3\nabc\n0\n\n',
    '3\nabc\r\n0\r\n\r\n',
    '3\r\nabc\n0\r\n\r\n',
    '2\r\nabc\r\n0\r\n\r\n',
    '3;\nabc\r\n0\r\n\r\n',
  ].map((body, at) =>
    invalid(`chunks with broken ends, ${at}`, post(['Transfer-Encoding: chunked'], body), {
      uws: at === 4 ? 'waits' : 200,
    }),
  ),
  invalid('a space before the colon', post(['Content-Length : 3'], 'abc'), { uws: 'waits' }),
  invalid('a folded header', post(['X-A: a', ' b'], ''), { uws: 'waits' }),
  invalid('lines that end in line feeds', ['GET / HTTP/1.1\nHost: localhost\n\n'], { uws: 505 }),
  invalid('a byte of zero', post(['X-A: a\0b'], ''), { uws: 'waits' }),
  invalid('what is no request', ['this is no request\r\n\r\n'], {
    status: 501,
    code: 'not_implemented',
    uws: 505,
  }),
  invalid('TLS', ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'], {
    status: 501,
    code: 'not_implemented',
    uws: 505,
  }),
  invalid('an unknown method', [lines('BREW / HTTP/1.1', 'Host: localhost')], {
    status: 501,
    code: 'not_implemented',
    uws: 'closes',
  }),
  invalid('a method for tunnels', [lines('CONNECT localhost:80 HTTP/1.1', 'Host: localhost')], {
    status: 501,
    code: 'not_implemented',
    uws: 505,
  }),
  invalid('a method of others', [lines('PROPFIND / HTTP/1.1', 'Host: localhost')], {
    status: 405,
    code: 'method_not_allowed',
    uws: 'closes',
  }),
  ...['HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2'].map((version) =>
    invalid(version, [`GET / ${version}\r\n${HOST}\r\n`], {
      status: 505,
      code: 'version_not_supported',
      uws: 505,
    }),
  ),
  invalid('an expectation that nobody knows', [lines('GET / HTTP/1.1', 'Host: localhost', 'Expect: tea')], {
    status: 417,
    code: 'expectation_failed',
  }),
  invalid(
    'an expectation beside one that is known',
    post(['Expect: 100-continue, tea', 'Content-Length: 3'], 'abc'),
    { status: 417, code: 'expectation_failed' },
  ),
  invalid(
    'more headers than anybody sends',
    [lines('GET / HTTP/1.1', 'Host: localhost', ...Array.from({ length: 1500 }, (_, at) => `X-${at}: a`))],
    { status: 431, code: 'headers_too_large', uws: 431 },
  ),
  ...['/?a=%zz', '/?a=%', '/?a=%ff', '/?%c3=a', '/?a=1&b=%ed%a0%80'].map((target) =>
    invalid(target, [lines(`GET ${target} HTTP/1.1`, 'Host: localhost')], {
      status: 400,
      code: 'invalid_encoding',
    }),
  ),
];

const ROUTES: readonly Route[] = (['GET', 'POST'] as const).map((method) => ({
  method,
  path: '/',
  handle: async (request) => ({
    status: 200,
    body: JSON.stringify({ query: [...request.query], body: Buffer.from(await request.body()).toString() }),
  }),
}));

/** Sends a case and returns everything received until the response is complete or the connection closed. */
async function answerTo({ sent }: Case, { port }: TestListener): Promise<string> {
  const connection = new RawConnection(port);
  connection.socket.setNoDelay(true);
  for (const piece of sent) {
    connection.write(Buffer.from(piece, 'latin1'));
    await pause();
  }
  const answer = await connection.until('}');
  connection.destroy();
  return answer;
}

for (const engine of ENGINES) {
  void t.test(`${engine}: answers the requests that clients and proxies send`, async (t) => {
    const listener = await startListener(t, engine, ROUTES);
    for (const known of TAKEN) {
      const own = engine === 'uws' ? known.uws : undefined;
      if (own === 'waits') continue;
      const answer = await answerTo(known, listener);
      t.match(answer, new RegExp(`^HTTP/1\\.1 ${own ?? known.status} `), known.name);
      if (own === undefined && known.sent.join('').startsWith('POST'))
        t.match(answer, /"body":"abc"/, known.name);
    }
  });

  void t.test(`${engine}: reports a malformed request as a problem`, async (t) => {
    const listener = await startListener(t, engine, ROUTES);
    for (const known of REFUSED) {
      const own = engine === 'uws' ? known.uws : undefined;
      if (own === 'waits') continue;
      const answer = await answerTo(known, listener);
      if (own === 'closes') t.equal(answer, '', known.name);
      else if (own !== undefined) t.match(answer, new RegExp(`^HTTP/1\\.1 ${own} `), known.name);
      else {
        t.match(answer, new RegExp(`^HTTP/1\\.1 ${known.status} `), known.name);
        t.match(answer, /^content-type: application\/problem\+json\r$/im, known.name);
        t.match(answer, new RegExp(`"status":${known.status},.*"code":"${known.code ?? ''}"`), known.name);
      }
    }
    await listener.underWay(0);
  });

  void t.test(`${engine}: reads no request behind a malformed one`, async (t) => {
    let found = 0;
    const listener = await startListener(t, engine, [
      ...ROUTES,
      {
        method: 'GET',
        path: '/hidden',
        handle: () => {
          found++;
          return { status: 200 };
        },
      },
    ]);
    const hidden = head('GET /hidden');
    const unsure = REFUSED.filter(
      ({ sent: [text = ''], status, uws }) =>
        /^(Content-Length|Transfer-Encoding) ?:/im.test(text) &&
        status !== 417 &&
        !(engine === 'uws' && uws === 'waits'),
    );
    t.ok(unsure.length > 12);
    for (const { name, sent } of unsure) {
      const connection = new RawConnection(listener.port);
      connection.write(sent.join('') + hidden + hidden);
      const answers = await connection.closed();
      // uWebSockets.js closes without a response if more has arrived.
      t.ok(answers.split('HTTP/1.1 ').length <= 2, name);
    }
    t.equal(found, 0);
    await listener.underWay(0);
  });
}

void t.test('node: a half-closed client still gets its response', async (t) => {
  const { port, underWay } = await startListener(t, 'node', [
    {
      method: 'POST',
      path: '/',
      handle: async (request) => {
        const body = await request.body();
        await listenerSawEnd;
        return { status: 200, body: JSON.stringify({ length: body.length, isGone: request.abort.aborted }) };
      },
    },
  ]);
  let sawEnd: () => void = () => undefined;
  const listenerSawEnd = new Promise<void>((resolve) => {
    sawEnd = resolve;
  });
  const connection = new RawConnection(port);
  connection.socket.end(`${head('POST /', ['Content-Length: 3'])}abc`);
  // Checks whether the client is still connected.
  t.match(await connection.until('\r\n\r\n'), /^HTTP\/1\.1 100 Continue\r\n\r\n/);
  sawEnd();
  const received = await connection.closed();
  t.match(received, /HTTP\/1\.1 200 OK[^{]*\{"length":3,"isGone":false\}$/);
  await underWay(0);
});

void t.test('node: a parse error waits for earlier responses', async (t) => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { port, underWay, metric } = await startListener(t, 'node', [
    {
      method: 'GET',
      path: '/{n}',
      handle: async ({ params }) => {
        await released;
        return { status: 200, body: `"get ${params['n'] ?? ''}"` };
      },
    },
  ]);
  const connection = new RawConnection(port);
  connection.write(`${head('GET /1')}${head('GET /2')}this is no request\r\n\r\n`);
  while ((await metric('http_requests_total', { method: 'other', status: '5xx' })) === undefined)
    await pause();
  t.equal(connection.received, '');
  release();
  const received = await connection.closed();
  t.match(
    received,
    /^HTTP\/1\.1 200[^]*"get 1"HTTP\/1\.1 200[^]*"get 2"HTTP\/1\.1 501[^]*not_implemented"\}$/,
  );
  await underWay(0);
});
