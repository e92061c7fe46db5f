import t from 'tap';
import type { HttpRequest, Route } from '../../src/component/http.js';
import type { Identity } from '../../src/component/identity.js';
import { UserRates } from '../../src/http/user-rates.js';
import { componentSettings } from '../support/component-settings.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';
import { RawConnection } from '../support/http-socket.js';

/** Like `Host.authenticate`: the key is the name of the user. */
function identify(request: HttpRequest): void {
  const userId = request.header('authorization') ?? '';
  const identity: Identity = { userId, keyId: null, scopes: ['write'] };
  // Both a guard and the route authenticate.
  request.identified?.(identity);
  request.identified?.(identity);
}

function postRoute(handle: () => Promise<void>): Route {
  return {
    method: 'POST',
    path: '/',
    maxBodyBytes: 1000,
    handle: async (request) => {
      identify(request);
      const bytes = await request.body();
      await handle();
      return { status: 200, body: String(bytes.length) };
    },
  };
}

for (const engine of ENGINES) {
  void t.test(`${engine}: one user gets half of the requests, others the rest`, async (t) => {
    const waiting: (() => void)[] = [];
    const held = postRoute(() => new Promise((resolve) => waiting.push(resolve)));
    const { url, metric, underWay } = await startListener(t, engine, [held], {
      limits: { maxRequestsInFlight: 8 },
    });
    const post = (user: string) => send(url, { method: 'POST', headers: { authorization: user }, body: 'x' });
    const first = [1, 2, 3, 4].map(() => post('a'));
    await underWay(4);
    const refused = await post('a');
    t.match(refused, { status: 503, headers: { 'retry-after': '1' } });
    t.match(refused.json(), { code: 'overloaded' });
    t.equal(await metric('http_user_share_refusals_total', { of: 'requests' }), 1);
    const second = [post('b'), post('b')];
    await underWay(6);
    t.equal((await post('b')).status, 503, 'two of eight are free, and both hold at least two');
    const third = post('c');
    await underWay(7);
    while (waiting.length < 7) await new Promise((resolve) => setTimeout(resolve, 1));
    for (const end of waiting.splice(0)) end();
    for (const { status } of await Promise.all([...first, ...second, third])) t.equal(status, 200);
    const again = post('a');
    await underWay(1);
    while (waiting.length < 1) await new Promise((resolve) => setTimeout(resolve, 1));
    for (const end of waiting.splice(0)) end();
    t.equal((await again).status, 200, 'slots are returned');
  });

  void t.test(`${engine}: one user gets half of the body bytes`, async (t) => {
    const { url, port, metric, underWay } = await startListener(
      t,
      engine,
      [postRoute(async () => undefined)],
      {
        limits: { maxBodyBytesInFlight: 8000 },
      },
    );
    // Slow senders: each announces a body and sends nearly all of it.
    const head = (user: string) =>
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${user}\r\nContent-Length: 1000\r\n\r\n`;
    for (let i = 0; i < 4; i++) {
      const socket = new RawConnection(port);
      t.teardown(() => {
        socket.socket.destroy();
      });
      socket.write(head('a') + 'x'.repeat(900));
      await underWay(i + 1);
    }
    while ((await metric('http_body_bytes_in_flight')) !== 4000)
      await new Promise((resolve) => setTimeout(resolve, 1));
    const post = (user: string) =>
      send(url, { method: 'POST', headers: { authorization: user }, body: 'x'.repeat(1000) });
    t.equal((await post('a')).status, 503);
    t.equal(await metric('http_user_share_refusals_total', { of: 'bytes' }), 1);
    t.match(await post('b'), { status: 200, body: '1000' });
  });

  void t.test(`${engine}: exceeding a rate is 429 with Retry-After`, async (t) => {
    const settings = componentSettings('test');
    const rate = { perSecond: 0.1, burst: 2 };
    const users = new UserRates({ share: 0.5, storedBytes: 0, requests: rate, bytes: undefined }, settings);
    const { url } = await startListener(t, engine, [postRoute(async () => undefined)], { users });
    const post = (user: string) => send(url, { method: 'POST', headers: { authorization: user }, body: 'x' });
    t.same([(await post('a')).status, (await post('a')).status], [200, 200], 'each counts once');
    const limited = await post('a');
    t.match(limited, { status: 429, headers: { 'retry-after': '10' } });
    t.match(limited.json(), { code: 'rate_limited', detail: /more requests/ });
    t.equal((await post('b')).status, 200);
    settings.clock.advance(10_000);
    t.equal((await post('a')).status, 200);

    const bytes = { perSecond: 100, burst: 200 };
    const byBytes = new UserRates({ share: 0.5, storedBytes: 0, requests: undefined, bytes }, settings);
    const other = await startListener(t, engine, [postRoute(async () => undefined)], { users: byBytes });
    const large = () =>
      send(other.url, { method: 'POST', headers: { authorization: 'a' }, body: 'x'.repeat(1000) });
    t.equal((await large()).status, 200);
    t.match(await large(), { status: 429, headers: { 'retry-after': '9' } });
  });
}
