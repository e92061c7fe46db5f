import t from 'tap';
import { startApi } from '../../support/api.js';
import type { ApiCaller, Call } from '../../support/api-caller.js';
import { EventStreamClient } from '../../support/event-stream.js';
import { until } from '../../support/until.js';

const NAME = 'support/answer.v2 %';

async function createVersions(api: ApiCaller, versions: readonly object[]): Promise<void> {
  for (const version of versions) {
    const { status, body } = await api.call('POST', '/dashboard/prompts/', {
      json: { name: NAME, ...version },
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
}

/** Calls below the prompt, and reads it as a program does. */
function callers(api: ApiCaller) {
  const path = encodeURIComponent(NAME);
  return {
    label: async (method: string, label: string, call: Call = {}) =>
      await api.call(method, `/dashboard/prompts/${path}/labels/${label}`, call),
    read: async (query = '', call: Call = {}) => await api.call('GET', `/prompts/${path}${query}`, call),
    moves: async (query = '') =>
      await api.get<{ readonly items: readonly object[]; readonly count: number }>(
        `/dashboard/prompts/${path}/label-history${query}`,
      ),
  };
}

void t.test('moves, lists and removes labels', async (t) => {
  const api = await startApi(t);
  const { label, moves } = callers(api);
  t.equal((await label('PUT', 'production', { json: { version: 1 } })).status, 404, 'no prompt');
  await createVersions(
    api,
    [1, 2, 3].map((version) => ({ version, template_text: 'x' })),
  );
  const first = await label('PUT', 'production', { json: { version: 1 } });
  t.match(first, {
    status: 200,
    headers: { get: Function },
    body: {
      ...{ name: NAME, label: 'production', versions: [{ version: 1, weight: 1 }], revision: Number },
      ...{ key_id: /^[0-9a-f-]{36}$/, key_name: String, moved_at: /Z$/ },
    },
  });
  const etag = first.headers.get('etag') ?? '';
  t.equal(etag, `"${String((first.body as { revision: number }).revision)}"`);
  t.strictSame((await label('GET', 'production')).body, first.body);
  t.equal((await label('GET', 'production')).headers.get('etag'), etag);
  t.strictSame((await label('PUT', 'production', { json: { version: 1 } })).body, first.body, 'unchanged');
  const weighted = [
    { version: 3, weight: 10 },
    { version: 1, weight: 90 },
  ];
  const ifMatch = { 'if-match': etag };
  const second = await label('PUT', 'production', { json: { versions: weighted }, headers: ifMatch });
  t.match(second, { status: 200, body: { versions: weighted.toReversed() } });

  const stale = { status: 412, body: { code: 'precondition_failed' } };
  for (const method of ['PUT', 'DELETE'])
    t.match(
      await label(method, 'production', {
        headers: ifMatch,
        ...(method === 'PUT' && { json: { version: 2 } }),
      }),
      {
        ...stale,
        body: {
          detail:
            /^The label production was moved to version 1, 3 at 20\S+Z\. Check that, then retry with its new ETag "\d+"\.$/,
        },
      },
    );
  const absent = { 'if-none-match': '*' };
  t.match(await label('PUT', 'production', { json: { version: 2 }, headers: absent }), stale);
  t.match(await label('PUT', 'new', { json: { version: 2 }, headers: { 'if-match': '*' } }), {
    ...stale,
    body: { detail: /^The label new does not exist/ },
  });
  t.equal((await label('PUT', 'new', { json: { version: 2 }, headers: absent })).status, 200);
  const listed = `/dashboard/prompts/${encodeURIComponent(NAME)}/labels`;
  t.match(await api.get(listed), [{ label: 'new' }, { label: 'production', versions: [{}, {}] }]);
  const labelled = [
    { version: 3, labels: ['production'] },
    { version: 2, labels: ['new'] },
    { version: 1, labels: ['production'] },
  ];
  t.match(await api.get('/dashboard/prompts'), labelled);
  t.match(await api.get(`/dashboard/prompts/${encodeURIComponent(NAME)}/versions`), labelled);
  t.match(await api.call('DELETE', `/dashboard/prompts/${encodeURIComponent(NAME)}/versions/3`), {
    status: 409,
    body: { detail: 'Labels serve version 3: production. Move or remove them first.' },
  });
  const tag = (await label('GET', 'new')).headers.get('etag') ?? '';
  t.equal((await label('DELETE', 'new', { headers: { 'if-match': `W/${tag}` } })).status, 204);
  t.equal((await label('DELETE', 'new')).status, 404);
  t.equal((await label('GET', 'new')).status, 404);
  t.match(await moves('?page_size=2'), {
    ...{ count: 4, has_more: true },
    items: [
      { label: 'new', from: [{ version: 2 }], to: null },
      { label: 'new', from: null, to: [{ version: 2 }] },
    ],
  });
  t.match(await moves('?label=production'), {
    items: [
      { from: [{ version: 1 }], to: [{}, {}] },
      { from: null, to: [{ version: 1, weight: 1 }] },
    ],
  });

  const other = await api.createUser('other@example.com', ['read', 'manage']);
  for (const path of [listed, `${listed}/production`, listed.replace('/labels', '/label-history')])
    t.equal((await api.call('GET', path, { key: other.key })).status, 404, path);
  t.equal((await label('PUT', 'a', { json: { version: 1 }, key: other.key })).status, 404);
  t.equal((await label('DELETE', 'production', { key: other.key })).status, 404);
  const { key: reader } = await api.createKey(['read']);
  t.equal((await label('PUT', 'a', { json: { version: 1 }, key: reader })).status, 403);
  t.equal((await label('DELETE', 'production', { key: reader })).status, 403);
});

void t.test('rejects invalid labels and targets', async (t) => {
  const api = await startApi(t);
  const { label } = callers(api);
  await createVersions(api, [{ template_text: 'x' }]);
  const refused = async (name: string, json: object, error: object, headers = {}) => {
    t.match(await label('PUT', name, { json, headers }), { status: 422, body: { errors: [error] } }, name);
  };
  for (const name of ['Production', '-a', 'a%20b', 'a'.repeat(65), '%C3%A9'])
    await refused(name, { version: 1 }, { field: 'label', message: /^must be 1 to 64 lower-case letters/ });
  const latest = { field: 'label', message: 'must not be latest, which always serves the newest version' };
  await refused('latest', { version: 1 }, latest);
  t.match(await label('DELETE', 'latest'), { status: 422, body: { errors: [latest] } });
  const one = { version: 1, weight: 1 };
  await refused('a', {}, { field: '/version', message: 'is required unless versions is set' });
  const both = { version: 1, versions: [one] };
  await refused('a', both, { field: '/version', message: 'cannot be combined with versions' });
  await refused(
    'a',
    { versions: [one, one] },
    { field: '/versions', message: 'must contain each version only once' },
  );
  await refused('a', { versions: [] }, { field: '/versions' });
  const eleven = Array.from({ length: 11 }, (_, version) => ({ version, weight: 1 }));
  await refused('a', { versions: eleven }, { field: '/versions' });
  for (const weight of [0, -1, 1.5, 1001])
    await refused('a', { versions: [{ version: 1, weight }] }, { field: '/versions/0/weight' });
  await refused('a', { version: 1 }, { field: 'If-Match' }, { 'if-match': '"a"' });
  t.match(await label('PUT', 'a', { json: { version: 7 } }), {
    status: 404,
    body: { detail: 'The prompt has no version 7: create it first, or choose one that exists.' },
  });
});

void t.test('serves prompts to programs by label and version', async (t) => {
  const api = await startApi(t);
  const { label, read } = callers(api);
  t.match(await read(), { status: 404, body: { detail: /^There is no such prompt:/ } });
  const messages = [
    { role: 'system', content: 'You are {{ persona }}.' },
    {
      role: 'user',
      content: '{{question}} {{persona}} {{{a.b-c}}} {{not a name}} {{1}} {single} {{größe_2}}',
    },
  ];
  await createVersions(api, [
    { version: 1, template_text: 'Answer {{question}} for {{name}}: {{question}}', description: 'first' },
    { version: 2, messages },
  ]);
  t.match(await read(), {
    status: 404,
    body: {
      detail:
        'The prompt has no label production. Its labels: latest. Request one of them, or set the label first.',
    },
  });
  t.match((await read('?label=latest')).body, {
    ...{ name: NAME, version: 2, label: 'latest', type: 'chat', template_text: null, description: null },
    ...{ messages, variables: ['persona', 'question', 'a.b-c', 'größe_2'] },
  });
  await label('PUT', 'production', { json: { version: 1 } });
  await label('PUT', 'canary', { json: { version: 2 } });
  const { key: reader } = await api.createKey(['read']);
  const answer = await read('', { key: reader });
  t.strictSame(Object.keys(answer.body as object), [
    ...['id', 'name', 'version', 'label', 'type', 'template_text', 'messages', 'variables'],
    ...['description', 'created_at'],
  ]);
  t.match(answer.body, {
    ...{ version: 1, label: 'production', type: 'text', messages: null, variables: ['question', 'name'] },
    template_text: 'Answer {{question}} for {{name}}: {{question}}',
  });
  t.equal(
    answer.headers.get('cache-control'),
    'private, max-age=30, stale-while-revalidate=600, stale-if-error=86400',
  );
  t.match(answer.headers.get('vary'), /Authorization, Cookie/);
  const etag = answer.headers.get('etag') ?? '';
  const known = { headers: { 'if-none-match': etag }, key: reader };
  t.match(await read('', known), { status: 304, body: undefined });
  t.equal((await read('?label=canary', known)).status, 200, 'another version');
  await label('PUT', 'production', { json: { version: 2 } });
  const moved = await read('', known);
  t.match(moved, { status: 200, body: { version: 2, messages } });
  await label('PUT', 'production', { json: { version: 1 } });
  t.equal((await read('', known)).status, 304, 'the same version again');
  await label('DELETE', 'production');
  t.match(await read('', known), {
    status: 404,
    body: { detail: /^The prompt has no label production\. Its labels: canary, latest\./ },
  });

  const byVersion = await read('?version=1');
  t.match(byVersion.body, { version: 1, label: null });
  t.match(byVersion.headers.get('cache-control'), /^private, max-age=3600/);
  t.match(await read('?version=7'), {
    status: 404,
    body: { detail: /^The prompt has no version 7\. .* or an existing version\.$/ },
  });
  t.match(await read('?version=1&label=canary'), { status: 422, body: { errors: [{ field: 'label' }] } });
  t.match(await read('?label=A'), { status: 422, body: { errors: [{ field: 'label' }] } });
  const { key: writer } = await api.createKey(['write', 'feedback']);
  t.equal((await read('?label=canary', { key: writer })).status, 403);
  const other = await api.createUser('other@example.com', ['read']);
  t.equal((await read('?label=canary', { key: other.key })).status, 404);
});

void t.test('a label with weights keeps the version of a session', async (t) => {
  const api = await startApi(t);
  const { label, read } = callers(api);
  await createVersions(
    api,
    [1, 2, 3].map((version) => ({ version, template_text: String(version) })),
  );
  const weigh = (one: number, two: number) =>
    label('PUT', 'production', {
      json: {
        versions: [
          { version: 1, weight: one },
          { version: 3, weight: two },
        ],
      },
    });
  await weigh(50, 50);
  const sessions = Array.from({ length: 24 }, (_, i) => `session ${String(i)}`);
  const versions = () =>
    Promise.all(
      sessions.map(async (id) => {
        const { body } = await read(`?session_id=${encodeURIComponent(id)}`);
        return (body as { readonly version: number }).version;
      }),
    );
  const before = await versions();
  t.strictSame(await versions(), before);
  t.strictSame([...new Set(before)].sort(), [1, 3]);
  t.match((await read()).body, { version: 3 }, 'without a session');
  const tags = await Promise.all(
    [1, 3].map(async (v) => {
      const session = sessions[before.indexOf(v)] ?? '';
      return (await read(`?session_id=${encodeURIComponent(session)}`)).headers.get('etag');
    }),
  );
  t.not(tags[0], tags[1]);
  await weigh(1, 999);
  const after = await versions();
  t.ok(before.every((version, i) => version === 1 || after[i] === 3));
  t.match((await read()).body, { version: 3, label: 'production' });
});

void t.test('streams moved labels to their user', async (t) => {
  const api = await startApi(t);
  const { label } = callers(api);
  await createVersions(api, [{ template_text: 'x' }]);
  const other = await api.createUser('other@example.com', ['read']);
  const { key } = await api.createKey(['read']);
  const stream = await EventStreamClient.open(t, api, 'topics=prompts', { key });
  const theirs = await EventStreamClient.open(t, api, 'topics=prompts', { key: other.key });
  await theirs.next('open');
  const { id } = await stream.next('open');
  // The feed reads its start position shortly after opening; earlier changes are not sent.
  const event = stream.next('prompt');
  let isNotified = false;
  void event.then(() => (isNotified = true));
  let version = 1;
  await until('a new version is reported', async () => {
    if (!isNotified) await createVersions(api, [{ version: ++version, template_text: 'x' }]);
    return isNotified;
  });
  t.match((await event).data, { name: NAME, label: 'latest', from: [{}], to: [{}], key_id: null });
  await label('PUT', 'production', { json: { version: 1 } });
  let moved = await stream.next('prompt');
  while (moved.data['label'] === 'latest') moved = await stream.next('prompt');
  t.match(moved, {
    data: { name: NAME, label: 'production', from: null, to: [{ version: 1, weight: 1 }], revision: Number },
  });
  await label('DELETE', 'production');
  t.match(await stream.next('prompt'), { data: { label: 'production', to: null } });
  stream.close();
  const again = await EventStreamClient.open(t, api, 'topics=prompts', {
    key,
    headers: { 'last-event-id': id },
  });
  t.match(await again.next('lost'), { data: { topic: 'prompts', count: null } });
});
