import t from 'tap';
import { promptRoutes } from '../../../src/api/resources/prompts.js';
import { createRouteBuilder } from '../../../src/http/operation.js';
import { startApi } from '../../support/api.js';
import { ApiCaller } from '../../support/api-caller.js';
import { HandClock } from '../../support/hand-clock.js';
import { ENGINES, startListener } from '../../support/http-listener.js';
import { head, RawConnection } from '../../support/http-socket.js';
import { openControlStore } from '../../support/control-store.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';
import { aUser } from '../../storage/duckdb/meta-records.js';

interface Prompt {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly template_text: string;
  readonly description: string | null;
  readonly is_active: boolean;
  readonly created_at: string;
}

async function create(api: ApiCaller, json: object, key?: string): Promise<Prompt> {
  const answer = await api.call('POST', '/dashboard/prompts/', {
    json,
    ...(key === undefined ? {} : { key }),
  });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as Prompt;
}

function versionsPath(name: string): string {
  return `/dashboard/prompts/${encodeURIComponent(name)}/versions`;
}

void t.test('creates versions and lists them by name, newest first', async (t) => {
  const api = await startApi(t);
  t.strictSame(await api.get('/dashboard/prompts/'), []);
  const b1 = await create(api, { name: 'b', template_text: 'Hello {name}.' });
  t.strictSame(Object.keys(b1), [
    'id',
    'name',
    'version',
    'type',
    'template_text',
    'description',
    'variables',
    'labels',
    'is_active',
    'created_at',
  ]);
  t.match(b1, { name: 'b', version: 1, template_text: 'Hello {name}.', description: null, is_active: true });
  t.match(b1.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.match(b1.created_at, /^\d{4}-\d\d-\d\dT.*Z$/);
  const b10 = await create(api, { name: 'b', version: 10, template_text: '', description: 'ten' });
  t.match(b10, { version: 10, template_text: '', description: 'ten', variables: [], labels: [] });
  const messages = [{ role: 'system', content: 'Be {{tone}}.' }];
  const chat = await create(api, { name: 'chat', messages });
  t.match(chat, { type: 'chat', template_text: JSON.stringify(messages), variables: ['tone'] });
  t.strictSame(await api.get(versionsPath('chat')), [chat]);
  await api.call('DELETE', '/dashboard/prompts/chat');
  const b2 = await create(api, { name: 'b', version: 2, template_text: 'x', description: null });
  const a5 = await create(api, { name: 'a', version: 5, template_text: 'x' });
  const last = await create(api, { name: 'Z', version: Number.MAX_SAFE_INTEGER, template_text: 'x' });
  t.strictSame(await api.get('/dashboard/prompts/'), [last, a5, b10, b2, b1]);
  t.strictSame(await api.get('/dashboard/prompts'), [last, a5, b10, b2, b1], 'without the slash');
  t.strictSame(await api.get(versionsPath('b')), [b10, b2, b1]);
  t.strictSame(await api.get(`${versionsPath('b')}/`), [b10, b2, b1]);
  for (const name of ['c', 'B', 'b ', '%', '0'])
    t.match(await api.call('GET', versionsPath(name)), { status: 404, body: { code: 'not_found' } });
  for (const name of [' ', '\uFEFF', 'x'.repeat(1025)])
    t.match(await api.call('GET', versionsPath(name)), {
      status: 422,
      body: { errors: [{ field: 'name' }] },
    });
});

void t.test('a duplicate version is 409, also for concurrent calls', async (t) => {
  const api = await startApi(t);
  const other = await api.createUser('other@example.com', ['read', 'manage']);
  const json = { name: 'p', version: 3, template_text: 'x' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => api.call('POST', '/dashboard/prompts/', { json })),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [201, ...Array<number>(9).fill(409)]);
  const repeated = await api.call('POST', '/dashboard/prompts/', { json: { ...json, template_text: 'y' } });
  t.match(repeated, { status: 409, body: { code: 'conflict', detail: 'The version is already taken.' } });
  t.equal((await api.get<Prompt[]>('/dashboard/prompts/')).length, 1);

  t.same(await api.get('/dashboard/prompts/', other.key), [], 'versions of others are hidden');
  t.equal((await api.call('GET', versionsPath('p'), { key: other.key })).status, 404);
  const theirs = await create(api, json, other.key);
  t.strictSame(await api.get(versionsPath('p'), other.key), [theirs]);
});

void t.test('deletes versions and prompts without reusing their numbers', async (t) => {
  const api = await startApi(t);
  const other = await api.createUser('other@example.com', ['read', 'manage']);
  const name = 'a/b';
  const path = `/dashboard/prompts/${encodeURIComponent(name)}`;
  const [zero, one] = [0, 1, 7].map((version) => ({ name, version, template_text: 'x' }));
  for (const version of [0, 1, 7]) await create(api, { name, version, template_text: 'x' });
  await create(api, { name, version: 7, template_text: 'theirs' }, other.key);
  const remove = async (path: string, key?: string) =>
    (await api.call('DELETE', path, { ...(key !== undefined && { key }) })).status;
  t.equal(await remove(`${path}/versions/1`, other.key), 404, 'not theirs');
  for (const version of ['-1', 'x', '1.0', '99999999999999999'])
    t.equal(await remove(`${path}/versions/${version}`), 422, version);
  t.equal(await remove(`${path}/versions/2`), 404);
  t.equal(await remove(`${path}/versions/1`), 204);
  t.equal(await remove(`${path}/versions/1`), 404);
  t.match(await api.get(versionsPath(name)), [{ version: 7 }, { version: 0 }]);
  t.match(await api.call('POST', '/dashboard/prompts/', { json: one }), {
    status: 409,
    body: {
      code: 'conflict',
      detail: /^Version 1 of the prompt was deleted and cannot be reused: use a version above 1\.$/,
    },
  });
  t.equal((await api.call('POST', '/dashboard/prompts/', { json: zero })).status, 409, 'it exists');
  t.equal(await remove(path), 204);
  t.equal(await remove(path), 404);
  t.equal((await api.call('GET', versionsPath(name))).status, 404);
  for (const version of [0, 6, 7])
    t.match(
      await api.call('POST', '/dashboard/prompts/', { json: { name, version, template_text: 'x' } }),
      { status: 409, body: { detail: /use a version above 7/ } },
      'the highest number of the deleted prompt counts',
    );
  await create(api, { name, version: 8, template_text: 'x' });
  t.match(await api.get(versionsPath(name), other.key), [{ template_text: 'theirs' }]);
  const { key: reader } = await api.createKey(['read']);
  t.equal(await remove(path, reader), 403);
});

void t.test('rejects invalid versions and stores nothing', async (t) => {
  const api = await startApi(t);
  const good = { name: 'p', template_text: 'x' };
  for (const [json, field, message] of [
    [{ ...good, name: undefined }, '/name', 'is required'],
    [{ ...good, name: null }, '/name', 'is required'],
    [{ ...good, name: ' \t\u00A0' }, '/name', 'must not be blank'],
    [{ ...good, name: '' }, '/name', 'must not be blank'],
    [{ ...good, name: '😀'.repeat(1025) }, '/name', 'must not be longer than 1024 characters'],
    [{ ...good, name: 5 }, '/name', 'must be a string'],
    [{ ...good, template_text: undefined }, '/template_text', 'is required'],
    [{ ...good, template_text: 'x'.repeat(1024 * 1024 + 1) }, '/template_text', 'must not be longer'],
    [
      { ...good, messages: [{ role: 'user', content: 'x' }] },
      '/template_text',
      'cannot be combined with messages',
    ],
    [{ name: 'p', messages: [] }, '/messages', 'must not be empty'],
    [{ name: 'p', messages: [{ role: 'user' }] }, '/messages/0/content', 'is required'],
    [{ name: 'p', messages: [{ role: '', content: '' }] }, '/messages/0/role', 'must not be empty'],
    [
      { name: 'p', messages: [{ role: 'user', content: 'x'.repeat(1024 * 1024) }] },
      '/messages',
      'must not be longer than 1048576 characters as JSON',
    ],
    [{ ...good, description: 'x'.repeat(65_537) }, '/description', 'must not be longer'],
    [{ ...good, name: '.' }, '/name', 'must not be blank, "." or ".."'],
    [{ ...good, name: '..' }, '/name', 'must not be blank, "." or ".."'],
    [{ ...good, version: -1 }, '/version', 'must not be less than 0'],
    [{ ...good, version: 1.5 }, '/version', 'must be an integer'],
    [{ ...good, version: '1' }, '/version', 'must be an integer'],
    [{ ...good, version: 2 ** 53 }, '/version', 'must not be more than'],
    [{ ...good, is_active: false }, '/is_active', 'is not a known field'],
  ] as const) {
    const answer = await api.call('POST', '/dashboard/prompts/', { json });
    t.match(answer, { status: 422, body: { code: 'validation_failed' } });
    const { errors } = answer.body as { errors: { field: string; message: string }[] };
    t.ok(
      errors.some((error) => error.field === field && error.message.startsWith(message)),
      JSON.stringify(errors),
    );
  }
  for (const field of ['name', 'template_text', 'description']) {
    const body = JSON.stringify({ ...good, description: 'd', [field]: 'half' }).replace('half', '\\ud83e');
    const headers = { 'content-type': 'application/json' };
    const answer = await api.call('POST', '/dashboard/prompts/', { body, headers });
    t.match(answer, { status: 422, body: { errors: [{ field: `/${field}` }] } }, 'a lone surrogate');
  }
  t.same(await api.get('/dashboard/prompts/'), []);
  await create(api, { ...good, name: '😀'.repeat(1024), template_text: '😀'.repeat(1024 * 1024) });
});

void t.test('creating needs the scope manage, reading the scope read', async (t) => {
  const api = await startApi(t);
  const { key: reader } = await api.createKey(['read']);
  const { key: writer } = await api.createKey(['write']);
  const { key: manager } = await api.createKey(['manage']);
  const json = { name: 'p', template_text: 'x' };
  const statuses = async (key: string | null) => [
    (await api.call('POST', '/dashboard/prompts/', { json, key })).status,
    (await api.call('GET', '/dashboard/prompts/', { key })).status,
    (await api.call('GET', versionsPath('p'), { key })).status,
  ];
  t.strictSame(await statuses(null), [401, 401, 401]);
  t.strictSame(await statuses(writer), [403, 403, 403]);
  t.strictSame(await statuses(manager), [201, 403, 403]);
  t.strictSame(await statuses(reader), [403, 200, 200]);
});

void t.test('two hundred long versions with any Unicode round-trip', async (t) => {
  const api = await startApi(t);
  const texts = Array.from({ length: 200 }, (_, i) => {
    const text = `${i} ${ODD_TEXTS[i % ODD_TEXTS.length] ?? ''}`;
    return text
      .repeat(Math.ceil(10_000 / text.length))
      .slice(0, 10_000)
      .replace(/[\uD800-\uDBFF]$/, '');
  });
  const names = [
    'plain',
    'with/slashes',
    '100 %',
    '🪶',
    '\uFEFFmark',
    'a\0b',
    '%2F',
    ' x ',
    '?#&=+',
    'usage',
  ];
  const prompts: Prompt[] = [];
  const waiting = texts.map((template_text, i) => ({
    name: names[i % names.length] ?? '',
    version: 1 + Math.floor(i / names.length),
    template_text,
    description: ODD_TEXTS[i % ODD_TEXTS.length] ?? '',
  }));
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let json = waiting.pop(); json; json = waiting.pop()) {
        const prompt = await create(api, json);
        t.match(prompt, json);
        prompts.push(prompt);
      }
    }),
  );
  prompts.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || b.version - a.version);
  t.strictSame(await api.get('/dashboard/prompts/'), prompts);
  for (const name of names)
    t.strictSame(
      await api.get(versionsPath(name)),
      prompts.filter((prompt) => prompt.name === name),
      name,
    );
});

for (const engine of ENGINES)
  void t.test(`${engine}: a percent-encoded prompt name may contain any character`, async (t) => {
    const control = await openControlStore(t);
    const user = aUser();
    await control.accounts.createUser(user);
    const userId = user.id;
    const routes = createRouteBuilder({
      authenticate: () => ({ userId, keyId: '', scopes: ['read', 'manage'] }),
    });
    const clock = new HandClock();
    const { url, port } = await startListener(
      t,
      engine,
      promptRoutes({ audit: () => undefined, takeStorage: async () => undefined, routes, control, clock }),
    );
    const api = new ApiCaller(url, '');
    const names = [
      ...ODD_TEXTS.filter((text) => text.trim() !== '').map((text) => text.slice(0, 900).toWellFormed()),
      '😀'.repeat(1024),
      '/',
      '//',
      '%',
      '%2f',
      'a/versions',
      'versions',
      'compare',
      '...',
      '.x',
      '+',
      ';a=b',
      '?q#f',
    ];
    for (const name of names) {
      const prompt = await create(api, { name, template_text: 'x' });
      for (const [method, end] of [
        ['GET', ''],
        ['GET', '/'],
        ['HEAD', ''],
        ['HEAD', '/'],
      ] as const) {
        // Not with fetch, which resolves `%2E%2E` as a parent folder.
        const connection = new RawConnection(port);
        connection.write(head(`${method} /api/v1${versionsPath(name)}${end}`, ['Connection: close']));
        const answer = Buffer.from(await connection.closed(), 'latin1').toString('utf8');
        t.match(answer, /^HTTP\/1\.1 200 /);
        const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
        if (method === 'GET') t.strictSame(JSON.parse(body), [prompt]);
        else t.equal(body, '');
      }
    }
    const connection = new RawConnection(port);
    connection.write(head('GET /api/v1/dashboard/prompts/%C3/versions', ['Connection: close']));
    t.match(await connection.closed(), /^HTTP\/1\.1 400 /);
  });
