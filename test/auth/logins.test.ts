import t, { type Test } from 'tap';
import { bootstrap, INITIAL_KEY_FILE } from '../../src/auth/bootstrap.js';
import type { LoginRequest } from '../../src/component/browser-logins.js';
import type { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthenticator } from '../support/authenticator.js';
import { openControlStore } from '../support/control-store.js';
import { HandClock } from '../support/hand-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';
import { refusal } from '../support/refusal.js';

const HOUR_MS = 3_600_000;
const SITE = { basePath: '/', publicUrl: null, secure: false };
const BASE = new URL('http://127.0.0.1:4319');

function aRequest(headers: Record<string, string> = {}, remoteAddress = '127.0.0.1'): LoginRequest {
  const all: Record<string, string> = { host: '127.0.0.1:4319', ...headers };
  return { method: 'GET', remoteAddress, header: (name) => all[name] };
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function daemonOn(control: SqlControlStore, clock: HandClock, secure = false) {
  const logger = new RecordingLogger();
  const config = { enabled: true, bootstrap_email: 'admin@localhost' };
  await bootstrap({ control, config, clock, logger });
  const authenticator = await createAuthenticator({ control, config, clock, logger });
  const logins = await authenticator.letIn({ ...SITE, secure });
  const key = readFileSync(join(control.directory ?? '', INITIAL_KEY_FILE), 'utf8').trim();
  const enter = async () => {
    const { cookie } = await logins.enter(aRequest(), { key });
    return cookie?.split(';')[0] ?? '';
  };
  const holds = (cookie: string): boolean => {
    try {
      return authenticator.authenticate(aRequest({ cookie })).keyId !== null;
    } catch {
      return false;
    }
  };
  const tokenOf = async () => new URL((await authenticator.linkFor(key, BASE)) ?? BASE).hash.slice(3);
  return { authenticator, logins, enter, holds, tokenOf, key, logger };
}

async function setUp(t: Test) {
  const clock = new HandClock();
  const control = await openControlStore(t, { clock });
  const daemon = await daemonOn(control, clock);
  t.teardown(() => daemon.authenticator.close());
  return { clock, control, ...daemon };
}

void t.test('a login ends after twelve hours without use, and after a week', async (t) => {
  const { enter, holds, clock, authenticator, control } = await setUp(t);
  const [used, unused] = [await enter(), await enter()];
  for (let hours = 0; hours < 24; hours += 6) {
    t.equal(holds(used), true);
    clock.advance(6 * HOUR_MS);
  }
  t.equal(holds(unused), false);
  await authenticator.close();
  // Its use was written, so it continues after a restart.
  const again = await daemonOn(control, clock);
  t.teardown(() => again.authenticator.close());
  for (let hours = 24; hours < 7 * 24; hours += 6) {
    t.equal(again.holds(used), true);
    clock.advance(6 * HOUR_MS);
  }
  t.equal(again.holds(used), false);
});

void t.test('logins and logouts apply to another daemon over the same store', async (t) => {
  const { control, clock, enter, holds, logins } = await setUp(t);
  const other = await daemonOn(control, clock);
  t.teardown(() => other.authenticator.close());
  const cookie = await enter();
  await until('the other process is notified', () => other.holds(cookie));
  await other.logins.leave(aRequest({ cookie }));
  t.equal(other.holds(cookie), false);
  await until('the first process is notified', () => !holds(cookie));
  t.equal(await logins.leave(aRequest({ cookie })), null);
});

void t.test('a link expires after a quarter of an hour and with its key', async (t) => {
  const { clock, tokenOf, logins, authenticator } = await setUp(t);
  const early = await tokenOf();
  clock.advance(15 * 60_000 - 1);
  t.ok((await logins.enter(aRequest(), { token: early })).cookie);
  const late = await tokenOf();
  clock.advance(15 * 60_000);
  t.match(await failure(logins.enter(aRequest(), { token: late })), { status: 401 });
  t.equal(await authenticator.linkFor('jd_unknown', BASE), null);
});

void t.test('limits failures per address without locking users out', async (t) => {
  const { clock, logins, key, tokenOf, logger } = await setUp(t);
  const enter = (text: string, address: string) => logins.enter(aRequest({}, address), { key: text });
  for (let tries = 0; tries < 10; tries++)
    t.match(await failure(enter('jd_x', '2001:db8::1')), { status: 401, code: 'unauthenticated' });
  const refused = await failure(enter('jd_x', '2001:db8::2'));
  t.match(
    refused,
    { status: 429, code: 'rate_limited', headers: { 'retry-after': '6' } },
    'in the same network',
  );
  t.match(await failure(enter('jd_x', '2001:db8:1::1')), { status: 401 }, 'in another network');
  t.ok((await enter(key, '2001:db8::1')).cookie, 'a user with a key is let in');
  const from = aRequest({}, '2001:db8::1');
  const token = await tokenOf();
  t.match(await logins.readLink(from, token), { email: 'admin@localhost' });
  t.ok((await logins.enter(from, { token })).cookie, 'a user with a link is let in');
  t.match(await failure(logins.enter(from, { token })), { status: 429 }, 'a used link');
  clock.advance(60_000);
  for (const wrong of [token, 'x', 'x'.repeat(43)]) {
    t.match(await failure(logins.enter(from, { token: wrong })), { status: 401 });
    t.match(await failure(logins.readLink(from, wrong)), { status: 401 });
  }
  t.notMatch(logger.lines.join('\n'), token);
});

void t.test('a new login in the same browser ends its earlier session', async (t) => {
  const { enter, holds, logins, key, tokenOf } = await setUp(t);
  const [cookie, other] = [await enter(), await enter()];
  const token = await tokenOf();
  await logins.readLink(aRequest({ cookie }), token);
  t.ok(holds(cookie), 'reading a link changes nothing');
  await logins.enter(aRequest({ cookie }), { token });
  t.strictSame([holds(cookie), holds(other)], [false, true]);
  await logins.enter(aRequest({ cookie: other }), { key });
  t.notOk(holds(other));
});

void t.test('accepts only a __Host- cookie over TLS', async (t) => {
  const clock = new HandClock();
  const control = await openControlStore(t, { clock });
  const { logins, authenticator, key } = await daemonOn(control, clock, true);
  t.teardown(() => authenticator.close());
  const { cookie } = await logins.enter(aRequest(), { key });
  t.match(cookie, /^__Host-jackdaw_4319=\S+; Path=\/; .*; Secure$/);
  const pair = cookie?.split(';')[0] ?? '';
  t.ok(authenticator.authenticate(aRequest({ cookie: pair })));
  const bare = aRequest({ cookie: pair.replace('__Host-', '') });
  t.equal(refusal(() => authenticator.authenticate(bare)).status, 401);
});

void t.test('disables logins without pages', async (t) => {
  const clock = new HandClock();
  const control = await openControlStore(t, { clock });
  const { enter, key } = await daemonOn(control, clock);
  const cookie = await enter();
  const config = { enabled: true, bootstrap_email: 'admin@localhost' };
  const closed = await createAuthenticator({
    control,
    config,
    clock,
    logger: new RecordingLogger(),
  });
  t.teardown(() => closed.close());
  t.equal(refusal(() => closed.authenticate(aRequest({ cookie }))).status, 401);
  t.equal(await closed.linkFor(key, BASE), null);
});
