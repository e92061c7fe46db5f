import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { heldRoute } from '../support/held-route.js';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const KIB = 1024;
const MAX_BODY = 64 * KIB;

const READ: Route = {
  method: 'POST',
  path: '/',
  maxBodyBytes: MAX_BODY,
  handle: async (request) => ({ status: 200, body: String((await request.body()).length) }),
};

for (const engine of ENGINES) {
  void t.test(`${engine}: rejects bodies above the memory budget before reading them`, async (t) => {
    const limits = { maxBodyBytesInFlight: 4 * MAX_BODY };
    const { url, port, metric, underWay } = await startListener(t, engine, [READ], { limits });
    const body = 'x'.repeat(MAX_BODY);
    const slow = Array.from({ length: 4 }, () => new RawConnection(port));
    for (const connection of slow) {
      connection.write(head('POST /', [`Content-Length: ${MAX_BODY}`]) + body.slice(1));
    }
    while ((await metric('http_body_bytes_in_flight')) !== 4 * MAX_BODY) await pause();

    const refused = new RawConnection(port);
    refused.write(head('POST /', ['Content-Length: 1']));
    t.match(await refused.until('}'), /^HTTP\/1\.1 503[^{]*retry-after: 1[^{]*\{[^]*"overloaded"/i);
    refused.destroy();
    const chunked = new RawConnection(port);
    chunked.write(`${head('POST /', ['Transfer-Encoding: chunked'])}1\r\nx\r\n`);
    t.match(await chunked.until('}'), /^HTTP\/1\.1 503/, 'a body without a length when it grows');
    chunked.destroy();
    t.equal((await send(url, { method: 'POST', body: '' })).status, 200, 'an empty body is accepted');

    for (const connection of slow) {
      connection.write('x');
      t.match(await connection.until(String(MAX_BODY)), /^HTTP\/1\.1 200/);
      connection.destroy();
    }
    await underWay(0);
    t.equal((await send(url, { method: 'POST', body })).status, 200, 'room again');
    t.equal(await metric('http_refused_bodies_total', { reason: 'overloaded' }), 2);
    t.equal(await metric('http_body_bytes_in_flight'), 0);
  });

  void t.test(`${engine}: a declared length reserves almost no memory`, async (t) => {
    const MIB = 1024 * KIB;
    const limits = { maxBodyBytesInFlight: 64 * MIB };
    const { url, port, metric, underWay } = await startListener(
      t,
      engine,
      [{ ...READ, maxBodyBytes: 16 * MIB }],
      { limits },
    );
    const claims = Array.from({ length: 50 }, () => new RawConnection(port));
    for (const connection of claims) connection.write(`${head('POST /', [`Content-Length: ${16 * MIB}`])}x`);
    await underWay(50);
    t.equal(
      (await send(url, { method: 'POST', body: 'x'.repeat(8 * MIB) })).status,
      200,
      '800 MiB announced',
    );
    t.ok(((await metric('http_body_bytes_in_flight')) ?? Infinity) <= 50 * 128 * KIB);
    for (const connection of claims) connection.destroy();
    await underWay(0);
  });

  void t.test(`${engine}: always admits one body of the largest route`, async (t) => {
    const { url } = await startListener(t, engine, [READ], { limits: { maxBodyBytesInFlight: 1 } });
    t.equal((await send(url, { method: 'POST', body: 'x'.repeat(MAX_BODY) })).status, 200);
  });

  void t.test(`${engine}: rejects requests above the limit`, async (t) => {
    const { route, release } = heldRoute();
    const { url, underWay } = await startListener(t, engine, [route], { limits: { maxRequestsInFlight: 3 } });
    const taken = Array.from({ length: 3 }, () => send(url));
    await underWay(3);
    const refused = await send(url);
    t.equal(refused.status, 503);
    t.equal(refused.headers['retry-after'], '1');
    t.match(refused.json(), { code: 'overloaded' });
    release();
    for (const { status } of await Promise.all(taken)) t.equal(status, 200);
    t.equal((await send(url)).status, 200);
  });

  void t.test(`${engine}: oversized headers are 431`, async (t) => {
    const { port } = await startListener(t, engine, [READ], { limits: { maxHeaderBytes: 4 * KIB } });
    for (const [line, headers] of [
      ['GET /', [`X-Large: ${'x'.repeat(5 * KIB)}`]],
      [`GET /${'x'.repeat(5 * KIB)}`, []],
      ['GET /', Array.from({ length: 30 }, (_, index) => `X-Large-${index}: ${'x'.repeat(200)}`)],
    ] as const) {
      const connection = new RawConnection(port);
      connection.write(head(line, headers));
      t.match(
        await connection.until('}'),
        /^HTTP\/1\.1 431[^{]*application\/problem\+json[^{]*\{[^]*headers_too_large/i,
      );
      connection.destroy();
    }
  });
}

void t.test('node: parser errors are problems, too', async (t) => {
  const { port } = await startListener(t, 'node', [READ]);
  const broken = new RawConnection(port);
  broken.write('GET / HTTP/1.1\r\nthis is no header\r\n\r\n');
  t.match(await broken.closed(), /^HTTP\/1\.1 400[^{]*\{[^]*invalid_request/);

  const impatient = await startListener(t, 'node', [READ], { limits: { headersTimeoutMs: 50 } });
  const slow = new RawConnection(impatient.port);
  slow.write('GET / HTTP/1.1\r\nHost');
  t.match(await slow.closed(), /^HTTP\/1\.1 408[^{]*\{[^]*request_timeout/);
});

void t.test('node: closes an idle connection', async (t) => {
  const { port } = await startListener(t, 'node', [READ], { limits: { idleTimeoutMs: 50 } });
  const idle = new RawConnection(port);
  idle.write(head('POST /', ['Content-Length: 0']));
  t.match(await idle.closed(), /^HTTP\/1\.1 200/);
});
