import { networkInterfaces } from 'node:os';
import t from 'tap';
import { HttpProblem, type Route } from '../../src/component/http.js';
import { createListener } from '../../src/http/listener.js';
import { componentSettings } from '../support/component-settings.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';
import { RawConnection } from '../support/http-socket.js';

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/', handle: () => ({ status: 200, body: '{}' }) },
  {
    method: 'POST',
    path: '/own',
    handle: () => ({ status: 200 }),
    refuse: ({ status, code }) => ({
      status,
      headers: { 'content-type': 'text/plain' },
      body: `own ${code}`,
    }),
  },
];

const statusOf = async (url: string, headers: Readonly<Record<string, string>>): Promise<number> =>
  (await send(url, { headers })).status;

for (const engine of ENGINES) {
  void t.test(`${engine}: accepts only its own address, localhost and configured hosts`, async (t) => {
    const hosts = ['Jackdaw.example.com', '*.internal:8443', '[fd00::1]', '10.1.2.3:80'];
    const { url, port } = await startListener(t, engine, ROUTES, { hosts });
    const good = [
      `127.0.0.1:${port}`,
      '127.0.0.1',
      `[::ffff:127.0.0.1]:${port}`,
      'localhost',
      'LOCALHOST.',
      'localhost:9000',
      'jackdaw.EXAMPLE.com',
      'jackdaw.example.com:1234',
      'jackdaw.example.com.',
      'a.internal:8443',
      'a.b.internal:8443',
      '[fd00:0::1]:7',
      '10.1.2.3:80',
    ];
    for (const host of good) t.equal(await statusOf(url, { host }), 200, host);
    const bad = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1:${port + 1}`,
      `127.0.0.2:${port}`,
      `[::1]:${port}`,
      `0.0.0.0:${port}`,
      `2130706433:${port}`,
      `127.1:${port}`,
      'localhost.evil.example',
      'evil.localhost',
      'jackdaw.example.com.evil.example',
      'www.jackdaw.example.com',
      'internal:8443',
      'a.internal',
      'a.internal:443',
      '10.1.2.3',
      'localhost:99999999',
      'localhost:x',
      'user@localhost',
      'localhost/evil',
      'localhost, evil.example',
      '[localhost]',
      '[::1',
    ];
    for (const host of bad) t.equal(await statusOf(url, { host }), 421, host);
    t.equal(await statusOf(url, { host: `127.0.0.1:${port}` }), 200, 'and caches no wrong result');
  });

  void t.test(`${engine}: rejects a host before keys, preflights and unknown paths`, async (t) => {
    const { url, listener, logger, clock } = await startListener(t, engine, ROUTES, {
      allowedOrigins: ['*'],
    });
    listener.guard('/', () => {
      throw new HttpProblem(401, 'unauthenticated', 'A key is needed.');
    });
    const host = 'evil.example';
    const refused = await send(`${url}/`, { headers: { host } });
    t.equal(refused.headers['content-type'], 'application/problem+json');
    t.match(refused.json(), {
      status: 421,
      code: 'misdirected_request',
      detail: /does not answer to the host "evil\.example".*service\.http\.hosts/,
    });
    t.equal(await statusOf(`${url}/no/such/path`, { host }), 421);
    const preflight = { host, origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    t.equal((await send(url, { method: 'OPTIONS', headers: preflight })).status, 421);
    const own = await send(`${url}/own`, { method: 'POST', headers: { host }, body: '{}' });
    t.equal(own.status, 421);
    t.equal(own.body, 'own misdirected_request', 'in the format of its route');

    for (let i = 0; i < 20; i++) await send(url, { headers: { host: `evil${i}.example` } });
    const lines = (): readonly string[] => logger.lines.filter((line) => line.startsWith('warn'));
    t.match(lines()[0], /Host.*host="evil\.example" address="127\.0\.0\.1"/);
    t.equal(lines().length, 10, 'so that it cannot flood the log');
    clock.advance(60_000);
    t.match(lines()[10], /count=14$/, 'the others are counted');
  });

  void t.test(`${engine}: a listener on all addresses accepts those of the machine`, async (t) => {
    const listener = createListener(':0', { ...componentSettings('test'), engine });
    for (const route of ROUTES) listener.route(route);
    t.teardown(() => listener.close(AbortSignal.abort()));
    const { port } = await listener.open();
    const url = `http://127.0.0.1:${port}`;
    const own = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
    for (const { address, family } of own) {
      const host = family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
      t.equal(await statusOf(url, { host }), 200, host);
    }
    t.equal(await statusOf(url, { host: `0.0.0.0:${port}` }), 200, 'its reported address');
    t.equal(await statusOf(url, { host: `127.0.0.9:${port}` }), 200);
    // 192.0.2.0/24 is for documentation: no machine has it.
    t.equal(await statusOf(url, { host: `192.0.2.1:${port}` }), 421);
    t.equal(await statusOf(url, { host: `evil.example:${port}` }), 421);
  });

  void t.test(`${engine}: without keys, a page must be of the same origin`, async (t) => {
    const { url, port } = await startListener(t, engine, ROUTES, {
      isSameOriginOnly: true,
      hosts: ['proxy.example'],
      allowedOrigins: ['*'],
    });
    t.equal(await statusOf(url, {}), 200, 'without an Origin');
    t.equal(await statusOf(url, { origin: `http://127.0.0.1:${port}` }), 200);
    t.equal(await statusOf(url, { origin: `https://127.0.0.1:${port}` }), 200, 'a proxy may terminate TLS');
    t.equal(await statusOf(url, { host: 'proxy.example', origin: 'https://proxy.example' }), 200);
    t.equal(await statusOf(url, { host: 'proxy.example:443', origin: 'https://PROXY.example' }), 200);
    const bad = ['null', 'https://evil.example', `http://localhost:${port}`, 'http://127.0.0.1:1', 'x', ''];
    for (const origin of bad) t.equal(await statusOf(url, { origin }), 403, origin);
    t.equal(await statusOf(url, { host: 'proxy.example:444', origin: 'https://proxy.example' }), 403);
    const { body } = await send(url, { method: 'POST', headers: { origin: 'https://evil.example' } });
    t.match(body, /"code":"forbidden_origin"/);
    t.match(body, /auth\.enabled/, 'with the remedy');
  });

  void t.test(`${engine}: with keys, the Origin is ignored`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    t.equal(await statusOf(url, { origin: 'https://evil.example' }), 200);
  });
}

void t.test('node: HTTP/1.0 needs no Host, for probes', async (t) => {
  const { port } = await startListener(t, 'node', ROUTES);
  const connection = new RawConnection(port);
  connection.write('GET / HTTP/1.0\r\n\r\n');
  t.match(await connection.closed(), /^HTTP\/1\.1 200 /);
});
