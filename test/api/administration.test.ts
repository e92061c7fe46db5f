import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApi, type TestApi } from '../support/api.js';
import { anItem } from '../support/trace-batch.js';

interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly monthly_event_limit: number | null;
  readonly disabled: boolean;
  readonly created_at: string;
}

async function create<Body>(api: TestApi, path: string, json: object): Promise<Body> {
  const answer = await api.call('POST', `/admin${path}`, { json });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as Body;
}

void t.test('creates, lists and updates users', async (t) => {
  const api = await startApi(t);
  t.match(await api.get('/admin/users'), [
    { email: 'admin@localhost', name: 'admin', monthly_event_limit: null },
  ]);
  const anna = await create<User>(api, '/users', { email: 'anna@example.com', name: 'Anna' });
  t.strictSame(Object.keys(anna), [
    'id',
    'email',
    'name',
    'monthly_event_limit',
    'stored_bytes_limit',
    'disabled',
    'created_at',
  ]);
  t.match(anna.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.match(anna.created_at, /Z$/);
  const ben = await create<User>(api, '/users', {
    email: 'ben@example.com',
    name: 'Ben',
    monthly_event_limit: 500,
  });
  t.equal(ben.monthly_event_limit, 500);
  t.strictSame((await api.get<User[]>('/admin/users')).slice(1), [anna, ben], 'oldest first');

  const change = async (json: object) => api.call('PATCH', `/admin/users/${anna.id.toUpperCase()}`, { json });
  t.strictSame((await change({})).body, anna, 'omitted fields are unchanged');
  t.strictSame((await change({ name: null, email: null })).body, anna, 'null means omitted');
  t.strictSame((await change({ name: 'Anna B.' })).body, { ...anna, name: 'Anna B.' });
  t.strictSame((await change({ monthly_event_limit: 10, email: 'a@example.com' })).body, {
    ...anna,
    name: 'Anna B.',
    email: 'a@example.com',
    monthly_event_limit: 10,
  });
  t.match((await change({ stored_bytes_limit: 5 })).body, { stored_bytes_limit: 5 });
  t.match((await api.get<User[]>('/admin/users'))[1], { name: 'Anna B.', email: 'a@example.com' });
});

void t.test('a duplicate e-mail address or slug is 409 and names the field', async (t) => {
  const api = await startApi(t);
  const anna = await create<User>(api, '/users', { email: 'anna@example.com', name: 'Anna' });
  const repeated = await api.call('POST', '/admin/users', {
    json: { email: 'anna@example.com', name: 'Other' },
  });
  t.match(repeated, { status: 409, body: { code: 'conflict', detail: 'The email is already taken.' } });
  const changed = await api.call('PATCH', `/admin/users/${anna.id}`, { json: { email: 'admin@localhost' } });
  t.match(changed, { status: 409, body: { code: 'conflict' } });
  t.equal((await api.call('PATCH', `/admin/users/${anna.id}`, { json: { email: anna.email } })).status, 200);
  const slug = await api.call('POST', '/admin/orgs', { json: { slug: 'default', name: 'Again' } });
  t.match(slug, { status: 409, body: { code: 'conflict', detail: 'The slug is already taken.' } });
  t.equal((await api.get<User[]>('/admin/users')).length, 2);
});

void t.test('only one of many concurrent creations of the same name succeeds', async (t) => {
  const api = await startApi(t);
  for (const [path, json] of [
    ['/admin/users', { email: 'same@example.com', name: 'Same' }],
    ['/admin/orgs', { slug: 'same', name: 'Same' }],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.call('POST', path, { json })));
    t.strictSame(answers.map(({ status }) => status).sort(), [201, ...Array<number>(9).fill(409)]);
    t.equal((await api.get<unknown[]>(path)).length, 2);
  }
});

void t.test('a key is returned only when it is created', async (t) => {
  const api = await startApi(t);
  const answer = await api.call('POST', '/admin/keys', {
    json: { name: 'ci', scopes: ['read', 'write'], expires_at: '2099-01-01T00:00:00+01:00' },
  });
  t.equal(answer.status, 201);
  const { key, ...created } = answer.body as Record<string, unknown>;
  t.match(key, /^jd_[A-Za-z0-9_-]{43}$/);
  t.match(created, {
    name: 'ci',
    prefix: String(key).slice(0, 11),
    scopes: ['read', 'write'],
    expires_at: '2098-12-31T23:00:00Z',
    revoked_at: null,
    last_used_at: null,
  });
  const listed = await api.get<Record<string, unknown>[]>('/admin/keys');
  t.equal(listed.length, 2);
  t.strictSame(listed[1], created);
  t.notMatch(JSON.stringify(listed), String(key));
  t.notMatch(JSON.stringify(listed), /digest/);
  const [owner] = await api.get<User[]>('/admin/users');
  t.equal(created['user_id'], owner?.id, 'without user_id the key belongs to the caller');
});

void t.test(
  'a new key works immediately; a revoked key fails and keeps its first revocation time',
  async (t) => {
    const api = await startApi(t);
    const { id, key } = await api.createKey(['read']);
    t.equal((await api.call('GET', '/agents', { key })).status, 200);
    t.equal((await api.call('DELETE', `/admin/keys/${id}`)).status, 204);
    t.equal((await api.call('GET', '/agents', { key })).status, 401);
    const revokedAt = async () =>
      (await api.get<{ id: string; revoked_at: string | null }[]>('/admin/keys')).find(
        (other) => other.id === id,
      )?.revoked_at;
    const first = await revokedAt();
    t.match(first, /Z$/);
    t.equal((await api.call('DELETE', `/admin/keys/${id}`)).status, 204);
    t.equal(await revokedAt(), first);
  },
);

void t.test('keys belong to their user and are listed by user', async (t) => {
  const api = await startApi(t);
  const anna = await api.createUser('anna@example.com', ['read', 'write']);
  await api.send([anItem()], anna.key);
  t.equal((await api.get<unknown[]>('/agents', anna.key)).length, 1);
  t.equal((await api.get<unknown[]>('/agents')).length, 0);
  const ofAnna = await api.get<{ user_id: string }[]>(`/admin/keys?user_id=${anna.id}`);
  t.match(ofAnna, [{ user_id: anna.id }]);
  t.equal(ofAnna.length, 1);
  t.strictSame(await api.get(`/admin/keys?user_id=${randomUUID()}`), []);
});

void t.test('members are added and removed, and /me lists memberships', async (t) => {
  const api = await startApi(t);
  const anna = await api.createUser('anna@example.com', ['manage']);
  const acme = await create<{ id: string }>(api, '/orgs', { slug: 'acme-1', name: 'Acme, Inc.' });
  t.match(await api.get('/admin/orgs'), [{ slug: 'default' }, acme]);
  const me = () => api.get<{ memberships: unknown[] }>('/me', anna.key);
  t.match(await me(), {
    user: { id: anna.id, email: 'anna@example.com' },
    scopes: ['manage'],
    memberships: [],
  });
  const place = `/admin/orgs/acme-1/members/${anna.id}`;
  t.match(await api.call('PUT', place, { json: { role: 'member' } }), {
    status: 200,
    body: { slug: 'acme-1', user_id: anna.id, role: 'member' },
  });
  t.strictSame((await me()).memberships, [{ slug: 'acme-1', name: 'Acme, Inc.', role: 'member' }]);
  t.equal((await api.call('PUT', place, { json: { role: 'admin' } })).status, 200);
  t.strictSame((await me()).memberships, [{ slug: 'acme-1', name: 'Acme, Inc.', role: 'admin' }]);
  t.match(await api.call('PUT', place, { json: {} }), { status: 200, body: { role: 'admin' } });
  t.strictSame(await api.get('/admin/orgs/acme-1/members'), [
    { user_id: anna.id, email: 'anna@example.com', name: 'anna@example.com', role: 'admin' },
  ]);
  t.equal((await api.call('DELETE', place)).status, 204);
  t.strictSame(await api.get('/admin/orgs/acme-1/members'), []);
  t.strictSame((await me()).memberships, []);
  t.equal((await api.call('DELETE', place)).status, 404);
  t.match(await api.get('/me'), { memberships: [{ slug: 'default', role: 'admin' }] });
});

void t.test('missing objects are 404', async (t) => {
  const api = await startApi(t);
  const missing = randomUUID();
  const [user] = await api.get<User[]>('/admin/users');
  const calls: readonly (readonly [string, string, object?])[] = [
    ['PATCH', `/admin/users/${missing}`, { name: 'x' }],
    ['DELETE', `/admin/keys/${missing}`],
    ['POST', '/admin/keys', { user_id: missing, name: 'x', scopes: ['read'] }],
    ['GET', '/admin/orgs/nowhere/members'],
    ['PUT', `/admin/orgs/nowhere/members/${user?.id ?? ''}`, { role: 'member' }],
    ['PUT', `/admin/orgs/default/members/${missing}`, { role: 'member' }],
    ['DELETE', `/admin/orgs/default/members/${missing}`],
    ['DELETE', `/admin/orgs/nowhere/members/${user?.id ?? ''}`],
  ];
  for (const [method, path, json] of calls)
    t.match(
      await api.call(method, path, json ? { json } : {}),
      { status: 404, body: { code: 'not_found' } },
      path,
    );
});

void t.test('invalid input is 422 and lists every problem', async (t) => {
  const api = await startApi(t);
  const [user] = await api.get<User[]>('/admin/users');
  const long = 'x'.repeat(201);
  const cases: readonly (readonly [string, string, object, readonly string[]])[] = [
    ['POST', '/users', {}, ['/email', '/name']],
    ['POST', '/users', { email: 'nobody', name: '' }, ['/email', '/name']],
    ['POST', '/users', { email: '<a@b.com>', name: 'x' }, ['/email']],
    ['POST', '/users', { email: 'a@b', name: 'x', monthly_event_limit: -1 }, ['/monthly_event_limit']],
    ['POST', '/users', { email: 'a@b', name: 'x', monthly_event_limit: 1.5 }, ['/monthly_event_limit']],
    ['POST', '/users', { email: 'a@b', name: 'x', monthly_event_limit: '5' }, ['/monthly_event_limit']],
    ['POST', '/users', { email: 'a@b', name: long, admin: true, id: 1 }, ['/admin', '/id', '/name']],
    ['POST', '/users', { email: `${long}@${long}`, name: 'x' }, ['/email']],
    ['POST', '/users', { email: 'a@b', name: 'half \ud800' }, ['/name']],
    ['POST', '/users', { email: 'a\0@b', name: 'x\0' }, ['/email', '/name']],
    ['POST', '/keys', { name: '\0', scopes: ['read'] }, ['/name']],
    ['POST', '/orgs', { slug: 'zero', name: '\0' }, ['/name']],
    ['PATCH', `/users/${user?.id ?? ''}`, { created_at: '2026-01-01T00:00:00Z' }, ['/created_at']],
    ['PATCH', '/users/me', {}, ['user_id']],
    ['POST', '/keys', { name: 'x', scopes: [] }, ['/scopes']],
    ['POST', '/keys', { name: 'x', scopes: ['read', 'root'] }, ['/scopes/1']],
    ['POST', '/keys', { name: 'x', scopes: ['read', 'read'] }, ['/scopes']],
    ['POST', '/keys', { name: 'x', scopes: 'read' }, ['/scopes']],
    ['POST', '/keys', { name: 'x', scopes: ['read'], user_id: 'me' }, ['/user_id']],
    ['POST', '/keys', { name: 'x', scopes: ['read'], expires_at: 'soon' }, ['/expires_at']],
    ['POST', '/keys', { name: 'x', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' }, ['/expires_at']],
    ['POST', '/keys', { name: 'x', scopes: ['read'], key: 'jd_mine' }, ['/key']],
    ['DELETE', '/keys/x', {}, ['key_id']],
    ['POST', '/orgs', { slug: 'Acme', name: 'x' }, ['/slug']],
    ['POST', '/orgs', { slug: '-a', name: 'x' }, ['/slug']],
    ['POST', '/orgs', { slug: 'a'.repeat(64), name: 'x' }, ['/slug']],
    ['POST', '/orgs', { slug: 'a/b', name: null }, ['/name', '/slug']],
    ['PUT', `/orgs/default/members/${user?.id ?? ''}`, { role: 'owner' }, ['/role']],
    ['PUT', `/orgs/default/members/${user?.id ?? ''}`, { rule: 'admin' }, ['/rule']],
    ['PUT', '/orgs/default/members/x', { role: 'member' }, ['user_id']],
  ];
  for (const [method, path, json, fields] of cases) {
    const answer = await api.call(method, `/admin${path}`, method === 'DELETE' ? {} : { json });
    const name = `${method} ${path} ${JSON.stringify(json).slice(0, 80)}`;
    t.match(answer, { status: 422, body: { code: 'validation_failed', title: /^Unprocessable/ } }, name);
    const { errors } = answer.body as { errors: { field: string; message: string }[] };
    t.strictSame(errors.map(({ field }) => field).sort(), fields, name);
    for (const { message } of errors) t.notMatch(message, /NOT|[<>]=|must match/, 'our own wording');
  }
  t.equal((await api.get<User[]>('/admin/users')).length, 1, 'nothing created');
  t.equal((await api.get<unknown[]>('/admin/keys')).length, 1);
  t.equal((await api.get<unknown[]>('/admin/orgs')).length, 1);
});

void t.test('the key list shows when a key was last used', async (t) => {
  const api = await startApi(t);
  const lastUse = async () =>
    (await api.get<{ last_used_at: string | null }[]>('/admin/keys'))[0]?.last_used_at ?? null;
  // The last use is written in parallel with the first request, possibly after its response.
  let seen = await lastUse();
  while (seen === null) seen = await lastUse();
  t.match(seen, /^20.*Z$/);
});
