import t from 'tap';
import { SCOPES, type Scope } from '../../src/component/identity.js';
import { startApi } from '../support/api.js';
import { generateKey } from '../../src/auth/keys.js';

const UUID = '01890000-0000-7000-8000-000000000000';

/** OTLP routes respond in their own format. */
const OTLP_UNAUTHENTICATED = {
  code: 16,
  message: 'This needs a valid API key, sent as "Authorization: Bearer <API key>".',
};
const UNAUTHENTICATED = {
  type: 'about:blank',
  title: 'Unauthorized',
  status: 401,
  detail: 'This needs a valid API key, sent as "Authorization: Bearer <API key>".',
  code: 'unauthenticated',
};

void t.test('every route rejects invalid keys as documented, before any other check', async (t) => {
  const api = await startApi(t);
  const revoked = await api.createKey(['admin']);
  await api.call('DELETE', `/admin/keys/${revoked.id}`);
  const expiring = await api.createKey(['admin'], { expires_at: new Date(Date.now() + 200).toISOString() });
  while ((await api.call('GET', '/me', { key: expiring.key })).status === 200);
  const keys = new Map<Scope, string>();
  for (const scope of SCOPES) keys.set(scope, (await api.createKey([scope])).key);
  const badKeys = {
    missing: null,
    malformed: 'jd_short',
    unknown: generateKey(),
    revoked: revoked.key,
    expired: expiring.key,
  };

  const guarded = api.routes.filter(({ isPublic }) => isPublic !== true);
  t.ok(guarded.length > 15, 'more than 15 routes are guarded');
  for (const { method, path, operation } of guarded) {
    const name = `${method} ${path}`;
    // Bodies are missing or invalid: a rejected caller gets no validation errors.
    const place = path.replace('/api/v1', '').replace(/\{\w+\}/g, UUID);
    const hasBody = method !== 'GET' && method !== 'DELETE';
    for (const [reason, key] of Object.entries(badKeys)) {
      const answer = await api.call(method, place, { key, ...(hasBody ? { body: '{' } : {}) });
      t.equal(answer.status, 401, `${name} refuses a ${reason} key`);
      const isOtlp = operation?.protocol !== undefined;
      const unauthenticated = isOtlp ? OTLP_UNAUTHENTICATED : UNAUTHENTICATED;
      t.strictSame(answer.body, unauthenticated, 'the same body for every reason');
      t.equal(answer.headers.get('www-authenticate'), 'Bearer');
      t.equal(answer.headers.get('content-type'), isOtlp ? 'application/json' : 'application/problem+json');
    }

    const access = operation?.access;
    t.ok(access, `${name} declares its required scope`);
    for (const [held, key] of keys) {
      const isAllowed =
        access === 'any'
          ? held !== 'feedback'
          : held === access || held === 'admin' || (held === 'write' && access === 'feedback');
      const answer = await api.call(method, place, { key, ...(hasBody ? { body: '{' } : {}) });
      if (isAllowed) {
        t.notMatch(answer.status, 401, `${name} accepts scope ${held}`);
        t.not(answer.status, 403);
      } else {
        t.equal(answer.status, 403, `${name} rejects scope ${held}`);
        t.match(
          JSON.stringify(answer.body),
          `lacks the scope \\"${access === 'any' ? 'read' : String(access)}\\"`,
        );
        if (operation?.protocol === undefined)
          t.match(answer.body, { code: 'forbidden_scope', title: 'Forbidden' });
      }
    }
  }
});

void t.test('unknown routes and wrong methods answer 401 without a key', async (t) => {
  const api = await startApi(t);
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['DELETE', '/agents'],
    ['GET', ''],
    ['GET', '/traces/batch'],
    ['GET', '//agents'],
    ['GET', '/%61gents'],
  ] as const) {
    t.equal((await api.call(method, path, { key: null })).status, 401, `${method} ${path}`);
  }
  t.match(await api.call('GET', '/nothing'), { status: 404, body: { code: 'not_found' } });
  const wrong = await api.call('DELETE', '/agents');
  t.match(wrong, { status: 405, body: { code: 'method_not_allowed' } });
  t.match(wrong.headers.get('allow'), /GET/);
});

void t.test('only openapi.json and login routes are public', async (t) => {
  const api = await startApi(t);
  t.equal((await api.call('GET', '/openapi.json', { key: null })).status, 200);
  t.strictSame(
    api.routes.filter(({ isPublic }) => isPublic).map(({ path }) => path),
    ['/api/v1/openapi.json', '/api/v1/session', '/api/v1/session/links/read'],
  );
});

void t.test('with authentication off, no key is required', async (t) => {
  const api = await startApi(t, { authEnabled: false });
  t.match(await api.call('GET', '/me', { key: null }), {
    status: 200,
    body: { user: { name: 'admin' }, key_id: null, scopes: [...SCOPES] },
  });
  t.equal((await api.call('GET', '/admin/users', { key: 'nonsense' })).status, 200);
});
