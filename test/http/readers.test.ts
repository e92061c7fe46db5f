import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { entityTag } from '../../src/http/entity-tag.js';
import { heldRoute } from '../support/held-route.js';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

/** Larger than the buffers of two sockets, so that an unread response blocks. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x');
/** The part of a response that is sent immediately. */
const PIECE_BYTES = 64 * 1024;
const SOCKETS = 10;
const PIPELINED = 50;

/** An authenticated route as of `Host.authenticate`: the key is the name of the user. */
const OWN: Route = {
  method: 'GET',
  path: '/own',
  handle: (request) => {
    request.identified?.({ userId: request.header('authorization') ?? '', keyId: null, scopes: ['read'] });
    return { status: 200 };
  },
};

for (const engine of ENGINES) {
  void t.test(`${engine}: a shared response frees its slot while its reader is slow`, async (t) => {
    let made = 0;
    const shared: Route = {
      method: 'GET',
      path: '/shared',
      isPublic: true,
      handle: () => {
        made++;
        return { status: 200, headers: { etag: entityTag(LARGE) }, body: LARGE };
      },
    };
    const { url, port, underWay } = await startListener(t, engine, [shared, OWN], {
      limits: { maxRequestsInFlight: 4 },
    });
    const readers = Array.from({ length: SOCKETS }, () => new RawConnection(port));
    for (const { socket } of readers) {
      socket.pause();
      // uWebSockets.js closes a connection with a request behind an unread response.
      socket.write(head('GET /shared').repeat(engine === 'node' ? PIPELINED : 1));
    }
    await underWay(SOCKETS);
    t.equal((await send(`${url}/own`, { headers: { authorization: 'a' } })).status, 200);
    t.equal((await send(`${url}/shared`)).body.length, LARGE.length, 'nor does it block other users');
    t.equal(made, SOCKETS + 1, 'one response per connection, regardless of the requests sent');
    for (const { socket } of readers) socket.destroy();
    await underWay(0);
  });

  void t.test(`${engine}: requests without a key get a share and leave the rest to users`, async (t) => {
    const { route, release } = heldRoute({ isPublic: true });
    const { url, metric, underWay } = await startListener(t, engine, [route, OWN], {
      limits: { maxRequestsInFlight: 8 },
    });
    const held = [send(url), send(url)];
    await underWay(2);
    const refused = await send(url);
    t.match(refused, { status: 503, headers: { 'retry-after': '1' } }, 'an address gets a quarter');
    t.match(refused.json(), { code: 'overloaded' });
    t.equal(await metric('http_user_share_refusals_total', { of: 'public_requests' }), 1);
    t.equal((await send(`${url}/own`, { headers: { authorization: 'a' } })).status, 200);
    release();
    for (const { status } of await Promise.all(held)) t.equal(status, 200);
    t.equal((await send(url)).status, 200, 'slots are returned');
  });
}

void t.test('node: pipelined requests queue, and too many close the connection', async (t) => {
  const AT_ONCE = 16;
  const { route, release } = heldRoute();
  const limits = { maxPipelined: 5 };
  const { port, underWay } = await startListener(t, 'node', [route], { limits });
  const connection = new RawConnection(port);
  connection.write(head('GET /').repeat(AT_ONCE + limits.maxPipelined + 10));
  await underWay(AT_ONCE);
  for (let turn = 0; turn < 5; turn++) await pause();
  await underWay(AT_ONCE);
  release();
  const answers = await connection.closed();
  t.equal(answers.split('HTTP/1.1 200').length - 1, AT_ONCE + limits.maxPipelined);
  t.match(answers, /HTTP\/1\.1 503 [^]*overloaded[^{}]*\}$/);
  t.equal(answers.split('HTTP/1.1 503').length - 1, 1);

  const many = new RawConnection(port);
  many.write(head('GET /').repeat(20) + head('GET /', ['Connection: close']));
  t.equal((await many.closed()).split('HTTP/1.1 200').length - 1, 21, 'queued requests are answered');
});

void t.test('node: a disconnect ends all pipelined requests', async (t) => {
  const { route, release } = heldRoute();
  const { port, underWay } = await startListener(t, 'node', [route]);
  const connection = new RawConnection(port);
  connection.write(head('GET /').repeat(16 + 5));
  await underWay(16);
  connection.destroy();
  // Their handlers are aborted, and nothing waits for their responses.
  release();
  await underWay(0);
});

for (const engine of ENGINES) {
  void t.test(`${engine}: an unread body is dropped while the response is pending`, async (t) => {
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    const route: Route = {
      method: 'POST',
      path: '/large',
      isPublic: true,
      handle: async () => {
        await pause();
        return { status: 200, headers: { etag: entityTag(body) }, body };
      },
    };
    const { port, underWay, metric } = await startListener(t, engine, [route]);
    const connection = new RawConnection(port);
    connection.socket.pause();
    connection.write(head('POST /large', ['Content-Length: 500000']));
    connection.write('x'.repeat(499_999));
    await underWay(1);
    while ((await metric('http_body_bytes_in_flight')) !== 0) await pause();
    await underWay(1);
    t.pass('the response still waits for its reader');
    connection.destroy();
    await underWay(0);
  });
}

void t.test('node: a long response is written in half a mebibyte per turn of the event loop', async (t) => {
  const whole = LARGE.subarray(0, 64 * PIECE_BYTES);
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  const { port } = await startListener(t, 'node', [
    {
      method: 'GET',
      path: '/',
      handle: () => {
        setImmediate(turn);
        return { status: 200, body: whole };
      },
    },
  ]);
  const reader = connect(port, '127.0.0.1');
  t.teardown(() => reader.destroy());
  reader.write(head('GET /'));
  while (reader.bytesRead < whole.length) await once(reader, 'data');
  isOver = true;
  t.ok(turns < 32, `${turns} turns for 64 chunks`);
});
