import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { Connections } from '../../src/http/connections.js';
import { trustProxies } from '../../src/http/trusted-proxies.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';

const PROXIES = ['10.0.0.0/8', 'fd00::/8'];

function clientOf(peer: string, headers: Readonly<Record<string, string>>): string {
  return trustProxies(PROXIES).clientOf(peer, (name) => headers[name]);
}

void t.test('only a trusted peer names the client', (t) => {
  for (const name of ['x-forwarded-for', 'forwarded']) {
    const headers = { [name]: name === 'forwarded' ? 'for=192.0.2.7' : '192.0.2.7' };
    t.equal(clientOf('10.1.2.3', headers), '192.0.2.7', name);
    t.equal(clientOf('fd00::1', headers), '192.0.2.7', name);
    for (const peer of ['203.0.113.5', '2001:db8::1', '11.0.0.1', ''])
      t.equal(clientOf(peer, headers), peer, `${name} of ${peer} is ignored`);
    t.equal(
      trustProxies([]).clientOf('10.1.2.3', () => '192.0.2.7'),
      '10.1.2.3',
      'none is trusted by default',
    );
  }
  t.equal(clientOf('10.1.2.3', {}), '10.1.2.3', 'a proxy without a header');
  t.end();
});

void t.test('the client is the last untrusted hop', (t) => {
  for (const [header, client] of Object.entries({
    '192.0.2.7': '192.0.2.7',
    ' 192.0.2.7:4711 ': '192.0.2.7',
    '2001:DB8::7': '2001:db8::7',
    '[2001:db8::7]:4711': '2001:db8::7',
    '::ffff:192.0.2.7': '192.0.2.7',
    '1.1.1.1, 192.0.2.7': '192.0.2.7',
    '1.1.1.1,192.0.2.7, 10.9.9.9,fd00::2': '192.0.2.7',
    'nonsense, , 192.0.2.7': '192.0.2.7',
    '10.9.9.9, 10.8.8.8': '10.9.9.9',
  }))
    t.equal(clientOf('10.1.2.3', { 'x-forwarded-for': header }), client, header);
  for (const [header, client] of Object.entries({
    'for=192.0.2.7': '192.0.2.7',
    'For="192.0.2.7:4711"; proto=https;by=10.0.0.1': '192.0.2.7',
    'for="[2001:db8::7]:4711"': '2001:db8::7',
    'for=1.1.1.1, for=192.0.2.7;host="a,b;for=2.2.2.2" , for=10.9.9.9': '192.0.2.7',
    'proto=https;for="192.0.2\\.7"': '192.0.2.7',
  }))
    t.equal(clientOf('10.1.2.3', { forwarded: header }), client, header);
  t.end();
});

void t.test('unreadable headers fall back to the peer', (t) => {
  for (const header of ['', ',', 'unknown', '192.0.2', '192.0.2.7, x', '1.1.1.1,', '192.0.2.7, fe80::1::2'])
    t.equal(clientOf('10.1.2.3', { 'x-forwarded-for': header }), '10.1.2.3', header);
  for (const header of ['', 'for', 'for=unknown', 'for=_hidden', 'proto=http', 'for="192.0.2.7', '=1.1.1.1'])
    t.equal(clientOf('10.1.2.3', { forwarded: header }), '10.1.2.3', header);
  const both = (forwarded: string) => ({ 'x-forwarded-for': '192.0.2.7', forwarded });
  t.equal(clientOf('10.1.2.3', both('for=192.0.2.7')), '192.0.2.7', 'both agree');
  t.equal(clientOf('10.1.2.3', both('for=192.0.2.8')), '10.1.2.3', 'two that differ may be forged');
  t.equal(clientOf('10.1.2.3', both('x')), '10.1.2.3');
  t.end();
});

void t.test('a trusted proxy has no connection limit per address', (t) => {
  const limits = { maxConnections: 10, maxConnectionsPerAddress: 1, proxies: trustProxies(PROXIES) };
  const refused: string[] = [];
  const connections = new Connections(limits, (reason) => refused.push(reason));
  for (const remoteAddress of ['10.1.2.3', '10.1.2.3', '192.0.2.7', '192.0.2.7'])
    connections.enter({ remoteAddress, destroy: () => undefined });
  t.strictSame(refused, ['address']);
  t.equal(connections.count, 3);
  t.end();
});

for (const engine of ENGINES)
  void t.test(`${engine}: routes see the client named by a trusted proxy`, async (t) => {
    const route: Route = {
      method: 'GET',
      path: '/',
      handle: ({ remoteAddress }) => ({ status: 200, body: JSON.stringify(remoteAddress) }),
    };
    const addressAt = async (proxies: readonly string[]) => {
      const { url } = await startListener(t, engine, [route], { proxies: trustProxies(proxies) });
      const headers = { 'X-Forwarded-For': '1.1.1.1, 192.0.2.7' };
      return (await send(url, { headers })).json();
    };
    t.equal(await addressAt(['127.0.0.0/8']), '192.0.2.7');
    t.equal(await addressAt(['10.0.0.0/8']), '127.0.0.1', 'a forged header');
  });
