import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { createListener, type HttpListener } from '../../src/http/listener.js';
import { componentSettings } from '../support/component-settings.js';
import { ENGINES, send } from '../support/http-listener.js';

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

function open(t: Tap, engine: 'uws' | 'node', endpoint: string): HttpListener {
  const listener = createListener(endpoint, { ...componentSettings('test'), engine });
  listener.route({
    method: 'GET',
    path: '/',
    handle: ({ remoteAddress }) => ({ status: 200, body: remoteAddress }),
  });
  t.teardown(async () => {
    await listener.close(AbortSignal.abort());
  });
  return listener;
}

interface Tap {
  teardown(end: () => Promise<void>): void;
}

for (const engine of ENGINES) {
  void t.test(`${engine}: a listener reports its address and the remote address`, async (t) => {
    const cases: readonly (readonly [string, string, string, string])[] = [
      ['127.0.0.1:0', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
      ['localhost:0', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
      ['0.0.0.0:0', '0.0.0.0', '127.0.0.1', '127.0.0.1'],
      [':0', '0.0.0.0', '127.0.0.1', '127.0.0.1'],
      ...(hasIpv6
        ? ([
            ['[::1]:0', '::1', '[::1]', '::1'],
            [':0', '0.0.0.0', '[::1]', '::1'],
          ] as const)
        : []),
    ];
    for (const [endpoint, host, from, remote] of cases) {
      const listener = open(t, engine, endpoint);
      const address = await listener.open();
      t.equal(address.host, host, endpoint);
      t.ok(address.port > 0);
      t.equal((await send(`http://${from}:${address.port}`)).body, remote, `${endpoint} from ${from}`);
    }
  });

  void t.test(`${engine}: names a port in use and the remedy`, async (t) => {
    const first = open(t, engine, '127.0.0.1:0');
    const { port } = await first.open();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    t.teardown(() => new Promise((resolve) => other.close(resolve)));
    for (const taken of [port, (other.address() as AddressInfo).port]) {
      const second = open(t, engine, `127.0.0.1:${taken}`);
      await t.rejects(second.open(), {
        message: new RegExp(
          `^HTTP listener 127\\.0\\.0\\.1:${taken}: the port is taken \\(EADDRINUSE\\)\\. Stop .* or set another`,
        ),
      });
    }
    t.equal((await send(`http://127.0.0.1:${port}`)).status, 200, 'the first keeps serving');
  });

  void t.test(`${engine}: names an address this machine does not have`, async (t) => {
    // TEST-NET-1 (RFC 5737) is unassigned.
    await t.rejects(open(t, engine, '192.0.2.1:0').open(), { message: /192\.0\.2\.1:0: .*EADDRNOTAVAIL/ });
  });
}

void t.test('rejects invalid endpoints', async (t) => {
  for (const endpoint of ['', '127.0.0.1', 'http://127.0.0.1:1', '127.0.0.1:70000', '::1:80']) {
    t.throws(
      () => createListener(endpoint, componentSettings('test')),
      /is not an endpoint; write host:port/,
      endpoint,
    );
  }
});
