import t, { type Test } from 'tap';
import { RefusedLinks } from '../../../src/api/resources/browser-sessions.js';
import type { Audit } from '../../../src/api/support/audit.js';
import { HttpProblem } from '../../../src/component/http.js';
import { ApiCaller, type Call } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { HandClock } from '../../support/hand-clock.js';
import { until } from '../../support/until.js';

const OWN_PAGE = { 'x-jackdaw': '1', 'sec-fetch-site': 'same-origin' };

async function start(t: Test, overlay = '') {
  const started = await startTestDaemon(t, { overlay });
  const api = new ApiCaller(started.url, started.key);
  const enter = (json: object, headers: Record<string, string> = {}) =>
    api.call('POST', '/session', { key: null, json, headers });
  /** A call with a cookie, like those of the pages. */
  const byCookie = (cookie: string, method: string, path: string, call: Call = {}) =>
    api.call(method, path, { key: null, ...call, headers: { cookie, ...OWN_PAGE, ...call.headers } });
  const login = async (): Promise<string> => cookieOf((await enter({ key: started.key })).headers);
  return { ...started, api, enter, byCookie, login };
}

/** The cookie header a browser would send back. */
function cookieOf(headers: Headers): string {
  return headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

void t.test('login exchanges a key for a cookie that is never shown or logged', async (t) => {
  const { api, url, enter, byCookie, logs } = await start(t);
  const { port } = new URL(url);
  const reader = await api.createKey(['read']);
  const answer = await enter({ key: reader.key });
  t.equal(answer.status, 204);
  const set = answer.headers.getSetCookie();
  t.match(set, [
    new RegExp(`^jackdaw_${port}=[A-Za-z0-9_-]{43}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict$`),
  ]);
  const cookie = cookieOf(answer.headers);
  t.match(await byCookie(cookie, 'GET', '/me'), {
    status: 200,
    body: { key_id: reader.id, scopes: ['read'] },
  });
  t.match(await byCookie(cookie, 'GET', '/admin/users'), { status: 403, body: { code: 'forbidden_scope' } });
  t.equal((await byCookie(`a=b; ${cookie}; c=d`, 'GET', '/me')).status, 200, 'next to other cookies');
  t.notMatch(logs.join('\n'), cookie.split('=')[1] ?? '', 'not in any log');
  t.match(logs.join('\n'), /session\.opened/);

  for (const [wrong, json] of Object.entries({
    unknown: { key: 'jd_nothing' },
    token: { token: 'x'.repeat(43) },
  }))
    t.match(await enter(json), { status: 401, body: { code: 'unauthenticated' } }, wrong);
  for (const json of [{}, { key: 'a', token: 'b' }, { key: 1 }, { password: 'x' }])
    t.equal((await enter(json)).status, 422);
  t.equal((await byCookie(`jackdaw_${port}=${'x'.repeat(43)}`, 'GET', '/me')).status, 401);
  t.equal((await byCookie(cookie.replace(port, '1'), 'GET', '/me')).status, 401, 'cookie of another port');
  t.equal((await byCookie(`__Host-${cookie}`, 'GET', '/me')).status, 200);
});

void t.test('a session accepts changes only from its own origin', async (t) => {
  const { login, api, url, enter } = await start(t);
  const cookie = await login();
  const post = (headers: Record<string, string>) =>
    api.call('POST', '/admin/orgs', {
      key: null,
      json: { slug: `s-${Math.random().toString(36).slice(2)}`, name: 'x' },
      headers: { cookie, ...headers },
    });
  const own = { 'x-jackdaw': '1' };
  const refused = {
    'no header of ours': { 'sec-fetch-site': 'same-origin' },
    'another port': { ...own, 'sec-fetch-site': 'same-site' },
    'another site': { ...own, 'sec-fetch-site': 'cross-site' },
    'typed in': { ...own, 'sec-fetch-site': 'none' },
    'an old browser on another port': { ...own, origin: 'http://127.0.0.1:1' },
    'neither said': own,
    'another site that knows our origin': { ...own, origin: url, 'sec-fetch-site': 'cross-site' },
  };
  for (const [name, headers] of Object.entries(refused))
    t.match(await post(headers), { status: 403, body: { code: 'forbidden_origin' } }, name);
  t.equal((await post({ ...own, 'sec-fetch-site': 'same-origin' })).status, 201);
  t.equal((await post({ ...own, origin: url })).status, 201, 'plain HTTP has no Sec-Fetch-Site');
  t.equal(
    (await api.call('GET', '/me', { key: null, headers: { cookie } })).status,
    200,
    'a GET needs no origin',
  );
  t.equal((await post({ authorization: `Bearer ${api.adminKey}` })).status, 201, 'a key takes precedence');
  t.match(
    await post({ ...OWN_PAGE, authorization: 'Bearer jd_wrong' }),
    { status: 401 },
    'also an invalid key',
  );
  for (const headers of [{ 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }])
    t.match(await enter({ key: api.adminKey }, headers), { status: 403 }, 'no cross-site login');
});

void t.test('a session ends on logout and when its key is revoked', async (t) => {
  const { api, login, enter, byCookie } = await start(t);
  const left = await login();
  const out = await byCookie(left, 'DELETE', '/session');
  t.equal(out.status, 204);
  t.match(out.headers.getSetCookie(), [/^jackdaw_\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/]);
  t.equal((await byCookie(left, 'GET', '/me')).status, 401, 'logged out');
  t.match(await api.call('DELETE', '/session'), { status: 204 }, 'a key has no session to end');

  const made = await api.createKey(['read']);
  const ofKey = cookieOf((await enter({ key: made.key })).headers);
  t.equal((await byCookie(ofKey, 'GET', '/me')).status, 200);
  await api.call('DELETE', `/admin/keys/${made.id}`);
  t.equal((await byCookie(ofKey, 'GET', '/me')).status, 401, 'the key is revoked');
});

void t.test('a login link works once and is created only with a key', async (t) => {
  const { api, url, enter, byCookie, daemon } = await start(t);
  const made = (await api.call('POST', '/session/links')).body as { readonly url: string };
  t.match(made.url, new RegExp(`^${url}/login#t=[A-Za-z0-9_-]{43}$`));
  const token = new URL(made.url).hash.replace('#t=', '');
  const answer = await enter({ token });
  t.equal(answer.status, 204);
  t.match(await enter({ token }), { status: 401 }, 'used up');
  const refused = await byCookie(cookieOf(answer.headers), 'POST', '/session/links');
  t.match(refused, { status: 403 }, 'a cookie cannot create a link: the session would never end');
  t.equal(await daemon.loginLink(), null, 'no file with the first key exists here');
});

void t.test('behind a TLS proxy, cookies and links use the public URL', async (t) => {
  const at = (public_url: string) => JSON.stringify({ extensions: { ui: { public_url } } });
  const under = await start(t, at('https://ops.example.com/jackdaw/'));
  const origin = 'https://ops.example.com';
  const answer = await under.enter({ key: under.key }, { origin });
  t.match(answer.headers.getSetCookie(), [
    /^__Secure-jackdaw_\d+=\S+; Path=\/jackdaw; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
  ]);
  const made = await under.api.call('POST', '/session/links');
  t.match(made.body, { url: /^https:\/\/ops\.example\.com\/jackdaw\/login#t=/ });
  const own = { cookie: cookieOf(answer.headers), 'x-jackdaw': '1', origin };
  t.equal((await under.api.call('DELETE', '/session', { key: null, headers: own })).status, 204);

  const top = await start(t, at('https://ops.example.com'));
  const { headers } = await top.enter({ key: top.key }, { origin });
  t.match(headers.getSetCookie(), [/^__Host-jackdaw_\d+=\S+; Path=\/; .*Secure$/]);
});

void t.test('with authentication off, login succeeds without a cookie', async (t) => {
  const { enter, api, url, daemon } = await start(t, 'auth: { enabled: false }');
  const answer = await enter({ key: 'whatever' });
  t.match(answer, { status: 204 });
  t.strictSame(answer.headers.getSetCookie(), []);
  t.match(await api.call('POST', '/session/links', { key: null }), { status: 201, body: { url: `${url}/` } });
  t.ok([null, `${url}/`].includes(await daemon.loginLink()), 'only if the pages are built');
});

void t.test(
  'reading a link shows its user without using it; creating one needs the scope read',
  async (t) => {
    const { api, byCookie, login, enter, logs } = await start(t);
    const carol = await api.createUser('carol@example.org', ['read']);
    const { url } = (await api.call('POST', '/session/links', { key: carol.key })).body as { url: string };
    const token = url.replace(/^.*#t=/, '');
    const read = (json: object, headers: Record<string, string> = {}) =>
      api.call('POST', '/session/links/read', { key: null, json, headers });
    for (let times = 0; times < 2; times++)
      t.match(await read({ token }), { status: 200, body: { email: 'carol@example.org' } });
    t.match(await read({ token }, { 'sec-fetch-site': 'cross-site' }), { status: 403 });
    t.match(await read({ token: 'x'.repeat(43) }), { status: 401 });
    t.match(logs.join('\n'), /audit="session_link\.refused" .*address="127\.0\.0\.1"/);
    const stored = async () => await api.get<{ items: object[] }>('/admin/audit?action=session_link.refused');
    await until('the refusal is stored', async () => (await stored()).items.length === 1);
    t.match(await stored(), { items: [{ user_id: null, key_id: null, address: '127.0.0.1', fields: {} }] });
    const cookie = await login();
    t.equal((await enter({ token }, { cookie, ...OWN_PAGE })).status, 204);
    t.equal(
      (await byCookie(cookie, 'GET', '/me')).status,
      401,
      'the previous session of the browser has ended',
    );
    t.notMatch(logs.join('\n'), token);
    const writer = await api.createKey(['write']);
    t.match(await api.call('POST', '/session/links', { key: writer.key }), {
      status: 403,
      body: { code: 'forbidden_scope' },
    });
  },
);

void t.test('audits at most 20 rejected links a minute and counts the rest', async (t) => {
  const clock = new HandClock();
  const lines: object[] = [];
  const audit: Audit = (by, action, fields) => void lines.push({ ...by, action, ...fields });
  const refused = new RefusedLinks(audit, clock);
  const refuse = async (status: number, address: string): Promise<void> => {
    const problem = new HttpProblem(status, 'x', 'x');
    await t.rejects(refused.watch(address, Promise.reject(problem)), problem);
  };
  t.equal(await refused.watch('192.0.2.1', Promise.resolve(1)), 1);
  for (let n = 0; n < 25; n++) await refuse(401, `192.0.2.${n}`);
  await refuse(429, '192.0.2.1');
  await refuse(403, '192.0.2.1');
  t.equal(lines.length, 20);
  t.match(lines[0], { identity: null, address: '192.0.2.0', action: 'session_link.refused' });
  clock.advance(60_000);
  t.match(lines.slice(20), [{ action: 'session_link.refused', address: '', count: 6 }]);
  await refuse(429, '192.0.2.1');
  refused.close();
  t.match(lines.slice(21), [{ count: 1 }], 'a stop flushes the counts');
});

void t.test('a user lists and ends sessions immediately, one or all', async (t) => {
  const { api, login, byCookie, enter } = await start(t);
  const bob = await api.createUser('bob@example.org', ['read']);
  const ofBob = cookieOf((await enter({ key: bob.key })).headers);
  const [first, second] = [await login(), await login()];
  const { status, body } = await byCookie(second, 'GET', '/me/sessions', {
    headers: { 'user-agent': 'not the one that logged in' },
  });
  t.equal(status, 200);
  const listed = body as readonly { readonly id: string; readonly is_current: boolean }[];
  t.match(listed, [
    { is_current: true, address: '127.0.0.1' },
    { is_current: false, key_id: /^[0-9a-f-]{36}$/, last_seen_at: /Z$/ },
  ]);
  t.equal(listed.length, 2, 'no sessions of others');
  t.match(await byCookie(second, 'GET', '/me'), { body: { browser_session: { id: listed[0]?.id } } });
  t.match(await api.get('/me'), { browser_session: null });
  const id = listed[1]?.id ?? '';
  t.equal(
    (await api.call('DELETE', `/me/sessions/${id}`, { key: bob.key })).status,
    404,
    'not owned by the user',
  );
  const stream = await fetch(`${api.url}/api/v1/dashboard/stream?topics=runs`, {
    headers: { cookie: first },
  });
  t.equal(stream.status, 200);
  const ended = stream.text();
  t.equal((await byCookie(second, 'DELETE', `/me/sessions/${id}`)).status, 204);
  t.equal((await byCookie(first, 'GET', '/me')).status, 401, 'immediately');
  t.equal((await byCookie(second, 'GET', '/me')).status, 200);
  t.match(await ended, /signed_out/, 'its stream ends, too');
  const { user } = await api.get<{ user: { id: string } }>('/me');
  const reader = await api.createKey(['read'], { user_id: user.id });
  for (const path of ['/me/sessions', `/me/sessions/${listed[0]?.id ?? ''}`])
    t.match(await api.call('DELETE', path, { key: reader.key }), { status: 403 }, 'broader scopes');
  t.equal((await byCookie(second, 'DELETE', '/me/sessions')).status, 204);
  t.equal((await byCookie(second, 'GET', '/me')).status, 401);
  t.equal((await byCookie(ofBob, 'GET', '/me')).status, 200);
});

void t.test('a session needs a confirming key to create a key that outlives it', async (t) => {
  const { api, login, byCookie, key } = await start(t);
  const bob = await api.createUser('bob@example.org', ['read', 'manage']);
  const cookie = await login();
  const make = (json: object, path = '/me/keys') =>
    byCookie(cookie, 'POST', path, { json: { name: 'x', scopes: ['read'], ...json } });
  for (const path of ['/me/keys', '/admin/keys']) {
    const later = new Date(Date.now() + 24 * 3_600_000).toISOString();
    for (const more of [{}, { expires_at: later }, { confirm_with_key: bob.key }, { confirm_with_key: 'x' }])
      t.match(await make(more, path), { status: 403, body: { code: 'confirmation_needed' } });
    const writer = await api.createKey(['write']);
    t.match(await make({ confirm_with_key: writer.key }, path), { body: { code: 'forbidden_scope' } });
    t.match(await make({ confirm_with_key: key }, path), { status: 201, body: { expires_at: null } });
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { key_id } = await api.get<{ key_id: string }>('/me');
    t.match(await make({ expires_at: soon }, path), { status: 201, body: { parent_id: key_id } });
  }
});
