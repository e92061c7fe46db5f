import t from 'tap';
import { Connections, type Connection, type NoRoom } from '../../src/http/connections.js';
import { heldRoute } from '../support/held-route.js';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const A = '192.0.2.1';
const B = '192.0.2.2';

/** A connection table, its connections by name, and its reports. */
function table(maxConnections: number, maxConnectionsPerAddress: number) {
  const refusals: [NoRoom, 'new' | 'idle'][] = [];
  const open: string[] = [];
  const byName = new Map<string, Connection>();
  const connections = new Connections({ maxConnections, maxConnectionsPerAddress }, (reason, isNew) => {
    refusals.push([reason, isNew ? 'new' : 'idle']);
  });
  const enter = (name: string, remoteAddress: string): boolean => {
    const connection = { remoteAddress, destroy: () => void open.splice(open.indexOf(name), 1) };
    open.push(name);
    byName.set(name, connection);
    return connections.enter(connection);
  };
  const get = (name: string): Connection =>
    byName.get(name) ?? { remoteAddress: '', destroy: () => undefined };
  return { connections, refusals, open, enter, get };
}

void t.test('at the limit, closes the connection idle the longest', async (t) => {
  const { connections, refusals, open, enter, get } = table(3, 3);
  for (const name of ['a', 'b', 'c']) t.ok(enter(name, A));
  connections.busy(get('a'));
  connections.busy(get('b'));
  connections.idle(get('b'));
  t.ok(enter('d', B));
  t.same(open, ['a', 'b', 'd'], 'c has been idle longer than b');
  t.ok(enter('e', B));
  t.same(open, ['a', 'd', 'e']);
  connections.busy(get('d'));
  connections.busy(get('e'));
  t.notOk(enter('f', B), 'all have a pending request');
  t.same(open, ['a', 'd', 'e']);
  t.equal(connections.count, 3);
  connections.leave(get('a'));
  connections.leave(get('a'));
  t.ok(enter('g', B));
  t.same(refusals, [
    ['total', 'idle'],
    ['total', 'idle'],
    ['total', 'new'],
  ]);
});

void t.test('an address is limited to its share and closes only its own connections', async (t) => {
  const { connections, refusals, open, enter, get } = table(100, 2);
  enter('other', B);
  for (const name of ['a', 'b', 'c']) t.ok(enter(name, A));
  t.same(open, ['other', 'b', 'c']);
  connections.busy(get('b'));
  connections.busy(get('c'));
  t.notOk(enter('d', A));
  t.ok(enter('another', B));
  t.same(refusals, [
    ['address', 'idle'],
    ['address', 'new'],
  ]);
  for (const name of ['other', 'b', 'c', 'another']) connections.leave(get(name));
  t.equal(connections.count, 0);
});

void t.test('an IPv6 /64 is one address, and localhost is unlimited', async (t) => {
  const same = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:ffff:0:0:1', '2001:db8:0:1::2%eth0'];
  const others = ['2001:db8:0:2::1', '2001:db8::1', 'fe80::1', '::ffff', '1::'];
  for (const address of same.slice(1)) {
    const { enter, refusals } = table(100, 1);
    enter('first', same[0] ?? '');
    enter('second', address);
    t.equal(refusals.length, 1, address);
  }
  const { enter, refusals } = table(100, 1);
  enter('first', same[0] ?? '');
  for (const address of others) enter(address, address);
  for (const address of ['127.0.0.1', '127.0.0.1', '127.8.8.8', '::1', '::1']) t.ok(enter(address, address));
  t.same(refusals, []);
});

void t.test('node: 300 clients with unfinished headers do not block others', async (t) => {
  const limits = { maxConnections: 50 };
  const routes = [{ method: 'GET', path: '/', handle: () => ({ status: 200 }) }] as const;
  const { url, port, metric, logger, clock } = await startListener(t, 'node', routes, { limits });
  const slow = Array.from({ length: 300 }, () => new RawConnection(port));
  for (const connection of slow) connection.write('GET / HTTP/1.1\r\nHos');
  while ((await metric('http_evicted_connections_total', { reason: 'total' })) !== 250) await pause();
  for (let request = 0; request < 20; request++) t.equal((await send(url)).status, 200);
  t.ok(((await metric('http_connections')) ?? 0) <= 50);
  clock.advance(60_000);
  const lines = logger.lines.filter((line) => line.startsWith('warn'));
  t.equal(lines.length, 2, 'at most two lines a minute');
  t.match(lines[0], /max_connections_per_address.* reason="total" maxConnections=50/);
  for (const connection of slow) connection.destroy();
  while ((await metric('http_connections')) !== 0) await pause();
});

for (const engine of ENGINES) {
  void t.test(`${engine}: rejects a connection if all others have a pending request`, async (t) => {
    const { route, release } = heldRoute();
    const limits = { maxConnections: 3 };
    const { url, port, metric, underWay } = await startListener(t, engine, [route], { limits });
    const held = Array.from({ length: 3 }, () => send(url));
    await underWay(3);
    const refused = new RawConnection(port);
    refused.write(head('GET /'));
    t.equal(await refused.closed(), '');
    t.equal(await metric('http_refused_connections_total', { reason: 'total' }), 1);
    release();
    for (const { status } of await Promise.all(held)) t.equal(status, 200);
    t.equal((await send(url)).status, 200);
    while ((await metric('http_connections')) !== 0) await pause();
  });
}
