import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { Call } from '../../../support/api-caller.js';
import { startApi, type TestApi } from '../../../support/api.js';
import { NEEDS_FILES } from '../../../support/postgres-config.js';

const ENDPOINTS = '/org/default/webhooks/endpoints';
/** A domain that never resolves, so nothing is sent. */
const HOOK = { url: 'https://hook.example/path', event_types: ['trace.failed'] };
/** The maximum per organization. */
const MAX_ENDPOINTS = 100;

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly name: string;
  readonly event_types: readonly string[];
  readonly is_active: boolean;
  readonly consecutive_failures: number;
  readonly created_at: string;
}

interface Created extends Omit<Endpoint, 'consecutive_failures'> {
  readonly secret: string;
}

async function create(api: TestApi, body: object = {}, call: Call = {}): Promise<Created> {
  const answer = await api.call('POST', ENDPOINTS, { json: { ...HOOK, ...body }, ...call });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer));
  return answer.body as Created;
}

void t.test('creates, lists, updates, rotates and deletes an endpoint', async (t) => {
  const api = await startApi(t);
  t.strictSame(await api.get(ENDPOINTS), []);
  const first = await create(api, { name: 'ops', event_types: ['*', 'a.type_of.99', 'trace.failed'] });
  t.match(first, {
    id: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    secret: /^whsec_[A-Za-z0-9+/]{43}=$/,
    created_at: /^20.*Z$/,
  });
  t.strictSame(Object.keys(first).sort(), [
    'created_at',
    'event_types',
    'id',
    'is_active',
    'name',
    'secret',
    'url',
  ]);
  const { secret, ...open } = first;
  const listed = { ...open, consecutive_failures: 0 };
  t.strictSame(listed, {
    id: first.id,
    url: HOOK.url,
    name: 'ops',
    event_types: ['*', 'a.type_of.99', 'trace.failed'],
    is_active: true,
    consecutive_failures: 0,
    created_at: first.created_at,
  });
  const second = await create(api);
  t.equal(second.name, '');
  t.not(second.secret, secret);
  t.strictSame(
    (await api.get<Endpoint[]>(`${ENDPOINTS}/`)).map(({ id }) => id),
    [second.id, first.id],
    'newest first',
  );

  const place = `${ENDPOINTS}/${first.id}`;
  let expected = listed;
  for (const change of [
    {},
    { is_active: false },
    { url: 'https://example.org:8443/a?b=c' },
    { name: '\uFEFFäöü 😀 \0' },
    { name: '' },
    { event_types: ['alert.fired'] },
    { url: HOOK.url, name: 'x', event_types: ['*'], is_active: true },
    { url: null, name: null, event_types: null, is_active: null },
  ]) {
    const answer = await api.call('PATCH', place, { json: change });
    const given = Object.entries(change).filter(([, value]) => value !== null);
    expected = { ...expected, ...(Object.fromEntries(given) as Partial<Endpoint>) };
    t.strictSame(answer.body, expected, JSON.stringify(change));
    t.equal(answer.status, 200);
  }
  t.strictSame((await api.get<Endpoint[]>(ENDPOINTS))[1], expected);

  const rotated = await api.call(
    'POST',
    `${place.toUpperCase().replace(ENDPOINTS.toUpperCase(), ENDPOINTS)}/rotate-secret`,
  );
  t.match(rotated, { status: 200, body: { id: first.id, secret: /^whsec_[A-Za-z0-9+/]{43}=$/ } });
  t.not((rotated.body as Created).secret, first.secret);

  const gone = await api.call('DELETE', place);
  t.equal(gone.status, 204);
  t.equal(gone.body, undefined);
  for (const [method, path, call] of [
    ['DELETE', place, {}],
    ['PATCH', place, { json: { is_active: true } }],
    ['POST', `${place}/rotate-secret`, {}],
    ['POST', `${place}/test`, {}],
    ['GET', `${place}/deliveries`, {}],
  ] as const)
    t.match(await api.call(method, path, call), {
      status: 404,
      body: { code: 'not_found', detail: /^There is no such webhook endpoint:/ },
    });
  t.strictSame(
    (await api.get<Endpoint[]>(ENDPOINTS)).map(({ id }) => id),
    [second.id],
  );
});

void t.test('admins manage and members list; others get 404', async (t) => {
  const api = await startApi(t);
  const scopes = ['manage', 'read'] as const;
  const admin = await api.createUser('admin@example.com', scopes);
  const member = await api.createUser('member@example.com', scopes);
  const stranger = await api.createUser('stranger@example.com', scopes);
  for (const slug of ['acme', 'other']) await api.call('POST', '/admin/orgs', { json: { slug, name: slug } });
  const join = async (slug: string, { id }: { readonly id: string }, role: string) =>
    await api.call('PUT', `/admin/orgs/${slug}/members/${id}`, { json: { role } });
  await join('acme', admin, 'admin');
  await join('acme', member, 'member');
  await join('other', stranger, 'admin');
  const acme = '/org/acme/webhooks/endpoints';
  const made = await api.call('POST', acme, { key: admin.key, json: HOOK });
  t.equal(made.status, 201);
  const { id } = made.body as Created;

  const attempts = async (slug: string, key: string) => {
    const base = `/org/${slug}/webhooks/endpoints`;
    return [
      await api.call('GET', base, { key }),
      await api.call('POST', base, { key, json: HOOK }),
      await api.call('PATCH', `${base}/${id}`, { key, json: { name: 'taken' } }),
      await api.call('POST', `${base}/${id}/rotate-secret`, { key }),
      await api.call('POST', `${base}/${id}/test`, { key }),
      await api.call('DELETE', `${base}/${id}`, { key }),
    ];
  };
  const asMember = await attempts('acme', member.key);
  t.strictSame(
    asMember.map(({ status }) => status),
    [200, 403, 403, 403, 403, 403],
  );
  for (const answer of asMember.slice(1))
    t.match(answer.body, {
      code: 'forbidden_role',
      detail: 'This needs the role "admin" in the organization; yours is "member".',
    });
  const asStranger = await attempts('acme', stranger.key);
  t.strictSame(
    asStranger.map(({ body }) => body),
    (await attempts('nowhere', stranger.key)).map(({ body }) => body),
    'the organization of others looks like a missing one',
  );
  for (const answer of [...asStranger, ...(await attempts('acme', api.adminKey))])
    t.match(answer, { status: 404, body: { code: 'not_found', detail: /^There is no such organization:/ } });
  t.strictSame(
    (await attempts('other', stranger.key)).map(({ status }) => status),
    [200, 201, 404, 404, 404, 404],
    'an admin of another organization has no access',
  );
  t.match(await api.get(acme, member.key), [{ id, name: '' }], 'nothing changed');

  const { key: reader } = await api.createKey(['read'], { user_id: admin.id });
  t.match(await api.get(acme, admin.key), [{ url: HOOK.url }]);
  for (const key of [member.key, reader])
    t.match(await api.get(acme, key), [{ url: 'https://hook.example/…' }], 'may not change it');
  t.strictSame(
    (await attempts('acme', reader)).map(({ status, body }) => [status, (body as { code?: string }).code]),
    [[200, undefined], ...Array.from({ length: 5 }, () => [403, 'forbidden_scope'])],
  );
  await join('acme', admin, 'member');
  t.strictSame(
    (await attempts('acme', admin.key)).map(({ status }) => status),
    [200, 403, 403, 403, 403, 403],
    'a removed role',
  );
  await api.call('DELETE', `/admin/orgs/acme/members/${member.id}`);
  t.equal((await api.call('GET', acme, { key: member.key })).status, 404);
});

void t.test('an active endpoint can be tested, a paused one not', async (t) => {
  const api = await startApi(t);
  const { id } = await create(api, { event_types: ['a.type_that.never_comes'] });
  const place = `${ENDPOINTS}/${id}`;
  const test = async () => {
    const { status, body } = await api.call('POST', `${place}/test`);
    return { status, body };
  };
  const { status, body } = await test();
  const { delivery_id: delivery } = body as { readonly delivery_id: string };
  t.match({ status, body }, { status: 202, body: { queued: true } });
  t.match(await api.get(`${place}/deliveries`), {
    count: 1,
    items: [{ id: delivery, event_type: 'webhook.test', status: 'pending' }],
  });
  await api.call('PATCH', place, { json: { is_active: false } });
  t.match(await test(), {
    status: 409,
    body: {
      code: 'conflict',
      detail: 'The webhook endpoint is paused: activate it first (is_active).',
    },
  });
  await api.call('PATCH', place, { json: { is_active: true } });
  t.equal((await test()).status, 202);
  t.equal((await api.call('POST', `${ENDPOINTS}/x/test`)).status, 422);
});

void t.test('limits the endpoints of an organization', async (t) => {
  const api = await startApi(t);
  const created = await Promise.all(Array.from({ length: MAX_ENDPOINTS - 5 }, () => create(api)));
  const attempt = async () => await api.call('POST', ENDPOINTS, { json: HOOK });
  const last = await Promise.all(Array.from({ length: 10 }, attempt));
  t.strictSame(
    last.map(({ status }) => status).sort(),
    [201, 201, 201, 201, 201, 409, 409, 409, 409, 409],
    'also for concurrent calls',
  );
  t.match(await attempt(), {
    status: 409,
    body: {
      code: 'conflict',
      detail: /^The organization has 100 webhook endpoints, .*: delete one first\.$/,
    },
  });
  t.equal((await api.get<Endpoint[]>(ENDPOINTS)).length, MAX_ENDPOINTS);
  await api.call('DELETE', `${ENDPOINTS}/${created[0]?.id ?? ''}`);
  t.equal((await attempt()).status, 201);
  t.equal((await attempt()).status, 409);
  await api.call('POST', '/admin/orgs', { json: { slug: 'acme', name: 'Acme' } });
  const { user } = await api.get<{ readonly user: { readonly id: string } }>('/me');
  await api.call('PUT', `/admin/orgs/acme/members/${user.id}`, { json: { role: 'admin' } });
  const elsewhere = await api.call('POST', '/org/acme/webhooks/endpoints', { json: HOOK });
  t.equal(elsewhere.status, 201, 'each organization has a separate limit');
});

void t.test('rejects invalid input and names the field', async (t) => {
  const api = await startApi(t);
  const { id } = await create(api);
  const before = await api.get(ENDPOINTS);
  const place = `${ENDPOINTS}/${id}`;
  const wrong = [
    [{ url: 'http://example.com/' }, '/url', 'must start with https://'],
    [{ url: 'HTTPS://example.com/' }, '/url', 'must start with https://'],
    [{ url: 'https:/example.com' }, '/url', 'must start with https://'],
    [{ url: ' https://example.com' }, '/url', 'must start with https://'],
    [{ url: 'ftp://example.com' }, '/url', 'must start with https://'],
    [{ url: '' }, '/url', 'must start with https://'],
    [{ url: 'https://' }, '/url', 'must be an https URL'],
    [{ url: 'https://user:pass@example.com' }, '/url', 'must not contain a user name'],
    [{ url: 'https://example.com/#a' }, '/url', 'must not have a fragment'],
    [{ url: 'https://localhost/' }, '/url', 'must be reachable from the public internet'],
    [{ url: 'https://127.0.0.1/' }, '/url', 'must be reachable from the public internet'],
    [{ url: 'https://2130706433/' }, '/url', 'must be reachable from the public internet'],
    [{ url: 'https://[::ffff:169.254.169.254]/' }, '/url', 'must be reachable from the public internet'],
    [{ url: 'https://metadata.google.internal/' }, '/url', 'must be reachable from the public internet'],
    [{ url: 'https://10.0.0.1:8443/' }, '/url', 'must be reachable from the public internet'],
    [{ url: `https://example.com/${'x'.repeat(2048)}` }, '/url', 'must not be longer than 2048 characters'],
    [{ url: 5 }, '/url', 'must be a string'],
    [{ event_types: [] }, '/event_types', 'must not be empty'],
    [{ event_types: 'trace.failed' }, '/event_types', 'must be an array'],
    [{ event_types: ['a', 'b', 'a'] }, '/event_types', 'must not have the same entry twice'],
    [{ event_types: ['a', 'Trace'] }, '/event_types/1', 'must be of the form'],
    [{ event_types: [''] }, '/event_types/0', 'must be of the form'],
    [{ event_types: ['a b'] }, '/event_types/0', 'must be of the form'],
    [{ event_types: ['a\n'] }, '/event_types/0', 'must be of the form'],
    [{ event_types: ['trace.*'] }, '/event_types/0', 'must be of the form'],
    [{ event_types: ['**'] }, '/event_types/0', 'must be of the form'],
    [{ event_types: [7] }, '/event_types/0', 'must be a string'],
    [{ event_types: ['x'.repeat(101)] }, '/event_types/0', 'must not be longer than 100 characters'],
    [
      { event_types: Array.from({ length: 101 }, (_, i) => `t${i}`) },
      '/event_types',
      'must have at most 100',
    ],
    [{ name: 'x'.repeat(201) }, '/name', 'must not be longer than 200 characters'],
    [{ name: 5 }, '/name', 'must be a string'],
    [{ secret: 'whsec_mine' }, '/secret', 'is not a known field'],
    [{ consecutive_failures: 0 }, '/consecutive_failures', 'is not a known field'],
  ] as const;
  const refused = async (method: string, path: string, json: object, field: string, message: string) => {
    const answer = await api.call(method, path, { json });
    t.match(answer, { status: 422, body: { code: 'validation_failed' } }, JSON.stringify(json).slice(0, 99));
    const { errors = [] } = answer.body as { errors?: { field: string; message: string }[] };
    t.ok(
      errors.some((error) => error.field === field && error.message.startsWith(message)),
      JSON.stringify(answer.body),
    );
  };
  for (const [body, field, message] of wrong) {
    await refused('POST', ENDPOINTS, { ...HOOK, ...body }, field, message);
    await refused('PATCH', place, body, field, message);
  }
  for (const missing of ['url', 'event_types'])
    for (const value of [undefined, null])
      await refused('POST', ENDPOINTS, { ...HOOK, [missing]: value }, `/${missing}`, 'is required');
  await refused('POST', ENDPOINTS, { ...HOOK, is_active: false }, '/is_active', 'is not a known field');
  await refused('PATCH', place, { is_active: 'yes' }, '/is_active', 'must be a boolean');
  t.strictSame(await api.get(ENDPOINTS), before, 'nothing stored');

  t.equal((await api.call('DELETE', `${ENDPOINTS}/x`)).status, 422);
  t.equal((await api.call('DELETE', `${ENDPOINTS}/${randomUUID()}`)).status, 404);
  t.equal((await api.call('GET', place)).status, 405);
  await create(api, { name: '😀'.repeat(200), event_types: ['x'.repeat(100), '.', '_'] });
  await create(api, { url: `https://example.com/${'x'.repeat(2028)}` });
});

void t.test(
  'endpoints survive a restart, and their secrets are unreadable on disk',
  { skip: NEEDS_FILES },
  async (t) => {
    const first = await startApi(t);
    const created = await Promise.all(Array.from({ length: 20 }, () => create(first)));
    const [one, two, three] = created;
    if (!one || !two || !three) throw new Error('they are there');
    const rotated = await first.call('POST', `${ENDPOINTS}/${one.id}/rotate-secret`);
    const secrets = [...created, rotated.body as Created].map(({ secret }) => secret);
    t.equal(new Set(secrets).size, 21);
    await first.call('DELETE', `${ENDPOINTS}/${two.id}`);
    await first.call('PATCH', `${ENDPOINTS}/${three.id}`, { json: { is_active: false } });
    const endpoints = await first.get<Endpoint[]>(ENDPOINTS);
    t.equal(endpoints.length, 19);
    const keyFile = join(first.directory, 'secrets-key');
    t.equal((await stat(keyFile)).mode & 0o777, 0o600);
    const key = (await readFile(keyFile, 'utf8')).trim();

    const readBytes = async () => {
      const names = (await readdir(first.directory)).filter((name) => name !== 'secrets-key');
      t.ok(names.length > 0);
      return await Promise.all(names.map((name) => readFile(join(first.directory, name))));
    };
    const look = async () => {
      const files = await readBytes();
      t.ok(
        files.some((bytes) => bytes.includes('hook.example/path')),
        'public values are found',
      );
      const { raw, texts } = formsOf([...secrets, key]);
      for (const bytes of files) {
        t.notOk(raw.some((form) => bytes.includes(form)));
        t.notOk(texts.some((form) => bytes.includes(form)));
      }
      t.notOk(texts.some((form) => first.logs.join('\n').includes(form)));
    };
    await look();
    await first.stop();
    await look();

    const again = await startApi(t, { directory: first.directory, key: first.adminKey });
    t.strictSame(await again.get(ENDPOINTS), endpoints);
    t.notMatch(again.logs.join('\n'), 'Cannot decrypt the secrets', 'the key is unchanged');
    t.equal((await readFile(keyFile, 'utf8')).trim(), key);
    t.notMatch(JSON.stringify(endpoints), /secret|whsec/);
  },
);

void t.test(
  'a different key is reported at the start, and the daemon runs',
  { skip: NEEDS_FILES },
  async (t) => {
    const keys = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64'));
    const [key = '', wrong = ''] = keys;
    const before = await startApi(t, { secretsKey: key });
    const created = [await create(before), await create(before)];
    await t.rejects(stat(join(before.directory, 'secrets-key')), 'a configured key is not written');
    await before.stop();
    const restart = async (secretsKey?: string) =>
      await startApi(t, {
        directory: before.directory,
        key: before.adminKey,
        ...(secretsKey === undefined ? {} : { secretsKey }),
      });

    const lost = await restart(wrong);
    const complaint = (api: TestApi) =>
      api.logs.filter((line) => line.includes('Cannot decrypt the secrets'));
    t.match(complaint(lost), [
      /webhook_endpoints=2 .*a different key than the one in secrets\.key of the configuration: put the former key back/,
    ]);
    for (const secret of keys) t.notOk(lost.logs.join('\n').includes(secret));
    t.match(await lost.get(ENDPOINTS), [{ id: created[1]?.id }, { id: created[0]?.id }]);
    await lost.stop();

    const absent = await restart();
    t.match(complaint(absent), [
      /is missing: put .*secrets-key back, or set secrets\.key in the configuration/,
    ]);
    await t.rejects(stat(join(before.directory, 'secrets-key')), 'no replacement is created');
    await absent.stop();

    const right = await restart(key);
    t.strictSame(complaint(right), []);
    await right.stop();

    const cured = await restart(wrong);
    for (const { id } of created) await cured.call('POST', `${ENDPOINTS}/${id}/rotate-secret`);
    await cured.stop();
    const healthy = await restart(wrong);
    t.strictSame(complaint(healthy), [], 'new secrets replace those of a lost key');
    await healthy.stop();
  },
);

void t.test(
  'without the key nothing is created, and the response hides the reason',
  { skip: NEEDS_FILES },
  async (t) => {
    const api = await startApi(t);
    await writeFile(join(api.directory, 'secrets-key'), 'nonsense');
    const answer = await api.call('POST', ENDPOINTS, { json: HOOK });
    t.match(answer, { status: 500, body: { code: 'internal_error' } });
    t.notMatch(JSON.stringify(answer.body), 'secrets-key');
    t.match(api.logs.join('\n'), /secrets-key does not hold the key/);
    t.strictSame(await api.get(ENDPOINTS), []);
  },
);

/** Forms in which a file could contain secrets: as text, without prefix, and as bytes. */
function formsOf(secrets: readonly string[]): {
  readonly raw: readonly Buffer[];
  readonly texts: readonly string[];
} {
  const encoded = secrets.map((secret) => secret.replace('whsec_', ''));
  const raw = encoded.map((text) => Buffer.from(text, 'base64'));
  return { raw, texts: [...encoded, ...raw.map((bytes) => bytes.toString('hex'))] };
}
