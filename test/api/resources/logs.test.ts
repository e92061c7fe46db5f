import t from 'tap';
import { startApi, type TestApi } from '../../support/api.js';
import { without } from '../../storage/duckdb/shown-spans.js';
import { logRequest, type LogToSend } from '../../support/log-request.js';

const SECOND_NANOS = 1_000_000_000n;
/** 2026-05-28T20:26:40Z */
const START_NANOS = 1_780_000_000n * SECOND_NANOS;
const TRACE = '7b8c1c1e0d5c4a539a551d0a3a7a5a01';
const TRACE_UUID = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

interface Result {
  readonly count: number;
  readonly items: readonly { readonly id: string; readonly body: string; readonly trace_id: string | null }[];
  readonly limit: number;
  readonly offset: number;
  readonly next_cursor: string | null;
}

async function send(
  api: TestApi,
  service: string,
  logs: readonly Omit<LogToSend, 'nanos'>[],
  key = api.adminKey,
): Promise<void> {
  const timed = logs.map((log, second) => ({ ...log, nanos: START_NANOS + BigInt(second) * SECOND_NANOS }));
  const { status, body } = await api.call('POST', '/otlp/v1/logs', { key, json: logRequest(service, timed) });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

function path(parameters: Readonly<Record<string, string>>): string {
  return `/dashboard/logs/search?${new URLSearchParams(parameters).toString()}`;
}

void t.test('searches records by text, service, severity, trace and time, newest first', async (t) => {
  const api = await startApi(t);
  const search = async (parameters: Readonly<Record<string, string>>): Promise<string[]> => {
    const { count, items } = await api.get<Result>(path(parameters));
    t.equal(count, items.length);
    return items.map(({ body }) => body);
  };
  t.strictSame(await api.get(path({})), { count: 0, items: [], limit: 100, offset: 0, next_cursor: null });
  await send(api, 'shop', [
    { body: 'Connection reset by peer', severity: 17, traceId: TRACE, attributes: { host: 'a' } },
    { body: 'retrying the connection', severity: 13 },
    { body: 'peer reset' },
    { body: { kvlistValue: { values: [{ key: 'peer', value: { intValue: '5' } }] } }, severity: 5 },
  ]);
  await send(api, 'mail', [{ body: 'connection_reset', severity: 21 }]);

  t.strictSame(await search({ query: 'RESET connection' }), ['connection_reset', 'Connection reset by peer']);
  t.strictSame(await search({ q: '"reset by"' }), ['Connection reset by peer']);
  t.strictSame(await search({ query: '"connection reset"', service_name: 'mail' }), ['connection_reset']);
  t.strictSame(await search({ query: 'connect' }), [], 'no partial words');
  t.strictSame(
    await search({ query: 'rese*' }),
    ['peer reset', 'connection_reset', 'Connection reset by peer'],
    'a prefix',
  );
  t.strictSame(await search({ query: 'peer 5' }), ['{"peer":5}'], 'a structured body matches by its JSON');
  t.strictSame(await search({ service: 'mail' }), ['connection_reset']);
  t.strictSame(await search({ service: 'MAIL' }), [], 'the exact name');
  t.strictSame(await search({ severity: 'warn' }), ['retrying the connection']);
  t.strictSame(await search({ trace_id: TRACE_UUID.toUpperCase() }), ['Connection reset by peer']);
  t.strictSame(await search({ trace_id: UNKNOWN }), []);
  const [from, to] = ['2026-05-28T20:26:41Z', '2026-05-28T22:26:42+02:00'];
  t.strictSame(await search({ start_time: from, end_time: to }), ['peer reset', 'retrying the connection']);
  t.strictSame(await search({ start: from, end: to, query: 'peer' }), ['peer reset']);
  t.strictSame(await search({ start: to, end: from }), []);

  const { items } = await api.get<Result>(path({ severity: 'error' }));
  t.match(items[0]?.id, /^[0-9a-f-]{36}$/);
  t.strictSame(
    items.map((record) => without(record, 'id')),
    [
      {
        timestamp: '2026-05-28T20:26:40Z',
        severity: 'error',
        service_name: 'shop',
        body: 'Connection reset by peer',
        trace_id: TRACE_UUID,
        span_id: null,
        attributes: { host: 'a' },
      },
    ],
  );
});

void t.test('clamps pages to their limits and counts all matches', async (t) => {
  const api = await startApi(t);
  await send(
    api,
    'shop',
    Array.from({ length: 130 }, (_, i) => ({ body: `record ${i}` })),
  );
  const page = async (parameters: Readonly<Record<string, string>>) => {
    const { items, ...rest } = await api.get<Result>(path(parameters));
    return { ...without(rest, 'next_cursor'), items: items.length, first: items[0]?.body };
  };
  t.strictSame(await page({}), { count: 130, items: 100, limit: 100, offset: 0, first: 'record 129' });
  t.strictSame(await page({ offset: '125' }), {
    count: 130,
    items: 5,
    limit: 100,
    offset: 125,
    first: 'record 4',
  });
  t.match(await page({ limit: '0' }), { items: 1, limit: 1 });
  t.match(await page({ limit: '-5', offset: '-1' }), { items: 1, limit: 1, offset: 0 });
  t.match(await page({ limit: '5000' }), { items: 130, limit: 1000 });
  t.match(await page({ offset: '1e99' }), { count: 130, items: 0, offset: 1_000_000_000 });
  t.match(await page({ limit: '2.9', query: 'record', offset: '1' }), {
    items: 2,
    limit: 2,
    first: 'record 128',
  });
});

void t.test('a cursor is stable when records arrive', async (t) => {
  const api = await startApi(t);
  const numbers = Array.from({ length: 7 }, (_, i) => ({ body: `record ${i}` }));
  await send(api, 'shop', numbers);
  const seen: string[] = [];
  const counts: number[] = [];
  for (let cursor: string | null = '', page = 0; cursor !== null; page++) {
    const found: Result = await api.get(
      path({ limit: '3', service: 'shop', ...(cursor === '' ? {} : { cursor }) }),
    );
    seen.push(...found.items.map(({ body }) => body));
    counts.push(found.count);
    cursor = found.next_cursor;
    // The same times as all other records.
    await send(api, 'shop', page === 0 ? numbers.slice(5).map(() => ({ body: 'late', severity: 17 })) : []);
  }
  t.strictSame(
    seen.filter((body) => body !== 'late'),
    numbers.map(({ body }) => body).reverse(),
  );
  t.strictSame(counts.slice(0, 2), [7, 6], 'counts the remaining records');
});

void t.test('names an invalid parameter', async (t) => {
  const api = await startApi(t);
  for (const [name, value] of [
    ['severity', 'warning'],
    ['severity', ''],
    ['trace_id', 'abc'],
    ['start_time', 'yesterday'],
    ['start', '2026-05-28'],
    ['end_time', '0'],
    ['end', ''],
    ['limit', 'many'],
    ['offset', ''],
    ['details', 'yes'],
    ['query', 'x'.repeat(1025)],
    ['cursor', 'abc'],
    ['cursor', Buffer.from('[1,"x"]').toString('base64url')],
  ] as const) {
    const { status, body } = await api.call('GET', path({ [name]: value }));
    t.equal(status, 422, `${name}=${value.slice(0, 20)}`);
    t.match(body, { code: 'validation_failed', errors: [{ field: name }] });
  }
  const { status, body } = await api.call('GET', '/dashboard/logs/abc/trace');
  t.equal(status, 422);
  t.match(body, { errors: [{ field: 'log_id' }] });
});

void t.test('a record links to its trace and is visible to its user only', async (t) => {
  const api = await startApi(t);
  const anna = await api.createUser('anna@example.com', ['read', 'write']);
  const ben = await api.createUser('ben@example.com', ['read', 'write']);
  await send(api, 'shop', [{ body: 'secret of anna', traceId: TRACE }, { body: 'no trace' }], anna.key);
  await send(api, 'shop', [{ body: 'secret of ben', traceId: TRACE }], ben.key);
  const of = async (key: string) =>
    (await api.get<Result>(path({ query: 'secret', trace_id: TRACE_UUID, service: 'shop' }), key)).items;
  const [annas, bens] = [await of(anna.key), await of(ben.key)];
  t.match([annas, bens], [[{ body: 'secret of anna' }], [{ body: 'secret of ben' }]]);
  t.equal(annas.length + bens.length, 2);
  t.equal((await api.get<Result>(path({ query: 'secret' }))).count, 0);

  const trace = (id: string | undefined, key: string) =>
    api.call('GET', `/dashboard/logs/${id ?? ''}/trace`, { key });
  t.match(await trace(annas[0]?.id, anna.key), {
    status: 200,
    body: { trace_id: TRACE_UUID, url: `/traces/${TRACE_UUID}` },
  });
  const traceless = (await api.get<Result>(path({ query: 'no' }), anna.key)).items[0]?.id;
  for (const answer of [
    await trace(annas[0]?.id, ben.key),
    await trace(traceless, anna.key),
    await trace(UNKNOWN, anna.key),
  ]) {
    t.match(answer, { status: 404, body: { code: 'not_found' } });
  }
});

void t.test('rejects only records that exceed a limit', async (t) => {
  const api = await startApi(t);
  const json = logRequest('shop', [
    { body: 'a', nanos: START_NANOS },
    { body: 'x'.repeat(1_048_577), nanos: START_NANOS },
    { body: 'b', nanos: START_NANOS },
  ]);
  const { status, body } = await api.call('POST', '/otlp/v1/logs', { json });
  t.equal(status, 200);
  t.match(body, { partialSuccess: { errorMessage: /\/body: must not be longer than 1048576 characters/ } });
  t.equal(
    Number((body as { partialSuccess: { rejectedLogRecords: string } }).partialSuccess.rejectedLogRecords),
    1,
  );
  t.equal((await api.get<Result>(path({}))).count, 2);
});
