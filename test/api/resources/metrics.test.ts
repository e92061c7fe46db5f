import t from 'tap';
import type { Answer } from '../../support/api-caller.js';
import { startApi, type TestApi } from '../../support/api.js';
import { gaugeRequest } from '../../support/gauge-request.js';

const SECOND_NANOS = 1_000_000_000n;
/** 2026-05-28T20:26:40Z */
const START_NANOS = 1_780_000_000n * SECOND_NANOS;

interface Result {
  readonly name: string;
  readonly data_points: readonly {
    readonly timestamp: string;
    readonly value: number;
    readonly labels: object;
  }[];
}

/** One point per second with the second as value, alternating between metrics. */
async function sendSeconds(
  api: TestApi,
  seconds: number,
  metrics: readonly string[],
  key = api.adminKey,
): Promise<void> {
  const points = Array.from({ length: seconds }, (_, second) => ({
    name: metrics[second % metrics.length] ?? '',
    value: second,
    nanos: START_NANOS + BigInt(second) * SECOND_NANOS,
    attributes: { parity: second % 2, zone: second % 3 === 0 ? 'a' : 'b', 'quote"d': 'yes' },
  }));
  const { status, body } = await api.call('POST', '/otlp/v1/metrics', {
    key,
    json: gaugeRequest('shop', points),
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

const values = (answer: Result): number[] => answer.data_points.map(({ value }) => value);

function query(parameters: Readonly<Record<string, string>>): string {
  return `/dashboard/metrics/query?${new URLSearchParams(parameters).toString()}`;
}

void t.test('lists metrics by name, with or without a trailing slash', async (t) => {
  const api = await startApi(t);
  t.strictSame(await api.get('/dashboard/metrics/'), []);
  await sendSeconds(api, 5, ['b', 'a', 'B']);
  const seconds = { type: 'gauge', unit: 's', description: 'Seconds' };
  const expected = [
    { name: 'B', ...seconds, data_point_count: 1, last_seen_at: '2026-05-28T20:26:42Z' },
    { name: 'a', ...seconds, data_point_count: 2, last_seen_at: '2026-05-28T20:26:44Z' },
    { name: 'b', ...seconds, data_point_count: 2, last_seen_at: '2026-05-28T20:26:43Z' },
  ];
  t.strictSame(await api.get('/dashboard/metrics/'), expected);
  t.strictSame(await api.get('/dashboard/metrics'), expected);
});

void t.test('returns points newest first, filtered by name, labels, time and count', async (t) => {
  const api = await startApi(t);
  await sendSeconds(api, 10, ['seconds']);
  const all = await api.get<Result>(query({ name: 'seconds' }));
  t.strictSame(Object.keys(all), ['name', 'type', 'unit', 'data_points']);
  t.match(all, { name: 'seconds', type: 'gauge', unit: 's' });
  t.strictSame(values(all), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  t.strictSame(all.data_points[0], {
    timestamp: '2026-05-28T20:26:49Z',
    value: 9,
    labels: { parity: '1', 'quote"d': 'yes', service_name: 'shop', zone: 'a' },
  });
  const asked = async (more: Readonly<Record<string, string>>) =>
    values(await api.get<Result>(query({ name: 'seconds', ...more })));
  t.strictSame(values(await api.get<Result>(query({ metric_name: 'seconds', limit: '1' }))), [9]);
  t.strictSame(await asked({ labels: '{}' }), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  t.strictSame(await asked({ labels: '{"zone":"a"}' }), [9, 6, 3, 0]);
  t.strictSame(await asked({ labels: '{"zone":"a","parity":"1"}' }), [9, 3]);
  t.strictSame(await asked({ labels: '{"parity":1}' }), [9, 7, 5, 3, 1], 'numbers compare as text');
  t.strictSame(
    await asked({ labels: JSON.stringify({ 'quote"d': 'yes', service_name: 'shop' }), limit: '2' }),
    [9, 8],
  );
  for (const labels of [
    '{"zone":"A"}',
    '{"zone":""}',
    '{"zone":"a","none":"x"}',
    '{"zon":"a"}',
    '{"e\\":\\"":"x"}',
  ]) {
    t.strictSame(await asked({ labels }), [], `nothing has ${labels}`);
  }
  const [from, to] = ['2026-05-28T20:26:42Z', '2026-05-28T22:26:44+02:00'];
  t.strictSame(await asked({ start_time: from, end_time: to }), [4, 3, 2]);
  t.strictSame(await asked({ start: from, end: to }), [4, 3, 2]);
  t.strictSame(await asked({ start: from, limit: '2' }), [9, 8]);
  t.strictSame(await asked({ end: to, limit: '2', labels: '{"zone":"b"}' }), [4, 2]);
  t.equal((await asked({ limit: '-3' })).length, 1, 'limit clamped');
  t.equal((await asked({ limit: '1e9' })).length, 10);
});

void t.test('a label filter compares all digits of a long integer', async (t) => {
  const api = await startApi(t);
  const shards = [9_007_199_254_740_992n, 9_007_199_254_740_993n, -9_223_372_036_854_775_808n];
  const points = shards.map((shard, value) => ({
    name: 'shards',
    value,
    nanos: START_NANOS + BigInt(value),
    attributes: { shard },
  }));
  t.equal((await api.call('POST', '/otlp/v1/metrics', { json: gaugeRequest('shop', points) })).status, 200);
  for (const [value, shard] of shards.entries()) {
    const found = await api.get<Result>(query({ name: 'shards', labels: `{"shard":${shard}}` }));
    t.strictSame(values(found), [value], String(shard));
  }
});

void t.test('the limit defaults to 1000 and is at most 10,000', async (t) => {
  const api = await startApi(t);
  await sendSeconds(api, 10_050, ['many']);
  const count = async (more: Readonly<Record<string, string>>) =>
    (await api.get<Result>(query({ name: 'many', ...more }))).data_points.length;
  t.equal(await count({}), 1000);
  t.equal(await count({ limit: '20000' }), 10_000);
});

void t.test('names the invalid query parameter', async (t) => {
  const api = await startApi(t);
  await sendSeconds(api, 3, ['seconds']);
  const fieldOf = async (parameters: Readonly<Record<string, string>>) => {
    const answer = await api.call('GET', query(parameters));
    t.match(answer, { status: 422, body: { code: 'validation_failed' } }, JSON.stringify(parameters));
    return (answer.body as { readonly errors: readonly { readonly field: string }[] }).errors.map(
      ({ field }) => field,
    );
  };
  const name = 'seconds';
  t.strictSame(await fieldOf({}), ['name']);
  t.strictSame(await fieldOf({ name, limit: 'many' }), ['limit']);
  t.strictSame(await fieldOf({ name, start_time: 'yesterday' }), ['start_time']);
  t.strictSame(await fieldOf({ name, end: '2026-05-28' }), ['end'], 'a bare date is not a time');
  const tooMany = JSON.stringify(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v'])));
  for (const labels of [
    '',
    '{',
    'zone=a',
    '[]',
    'null',
    '"a"',
    '7',
    '{"a":null}',
    '{"a":{}}',
    '{"a":["b"]}',
    tooMany,
  ]) {
    t.strictSame(await fieldOf({ name, labels }), ['labels']);
  }
  const missing: Answer = await api.call('GET', query({ name: 'minutes' }));
  t.match(missing, { status: 404, body: { code: 'not_found' } });
  t.equal((await api.call('GET', query({ name: '' }))).status, 404);
});

void t.test('metrics of other users are hidden', async (t) => {
  const api = await startApi(t);
  const anna = await api.createUser('anna@example.com', ['read', 'write']);
  const ben = await api.createUser('ben@example.com', ['read', 'write']);
  await sendSeconds(api, 4, ['shared', 'of anna'], anna.key);
  await sendSeconds(api, 1, ['shared'], ben.key);
  t.match(await api.get('/dashboard/metrics/', ben.key), [{ name: 'shared', data_point_count: 1 }]);
  t.strictSame(values(await api.get<Result>(query({ name: 'shared' }), anna.key)), [2, 0]);
  t.strictSame(values(await api.get<Result>(query({ name: 'shared' }), ben.key)), [0]);
  t.equal((await api.call('GET', query({ name: 'of anna' }), { key: ben.key })).status, 404);
  t.equal(
    (await api.call('GET', query({ name: 'shared' }))).status,
    404,
    'an administrator sees only its own metrics',
  );
});
