import { randomUUID } from 'node:crypto';
import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { startApi, type TestApi } from '../../support/api.js';
import { traceIdOf } from '../../support/header-text.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';
import { aSpan, jsonOf, tracesOf } from '../../support/otlp-requests.js';
import { anItem } from '../../support/trace-batch.js';

interface Stats {
  readonly version: number;
  readonly template_text: string;
  readonly total_traces: number;
  readonly success_rate: number | null;
  readonly avg_cost_usd: number | null;
  readonly avg_latency_ms: number | null;
  readonly p95_latency_ms: number | null;
}

const UNUSED = {
  total_traces: 0,
  success_rate: null,
  avg_cost_usd: null,
  avg_latency_ms: null,
  p95_latency_ms: null,
  scores: [],
};

async function create(api: TestApi, name: string, version: number, template_text = 'x'): Promise<void> {
  const answer = await api.call('POST', '/dashboard/prompts/', { json: { name, version, template_text } });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
}

async function use(api: TestApi, json: object, key?: string) {
  return await api.call('POST', '/dashboard/prompts/usage', { json, ...(key === undefined ? {} : { key }) });
}

async function compare(api: TestApi, name: string): Promise<readonly Stats[]> {
  const path = `/dashboard/prompts/${encodeURIComponent(name)}/compare`;
  const body = await api.get<{ name: string; versions: Stats[] }>(path);
  if (body.name !== name) throw new Error(`asked for ${name}, got ${body.name}`);
  return body.versions;
}

void t.test('compares prompt versions by their linked traces, newest first', async (t) => {
  const api = await startApi(t);
  for (const version of [1, 3, 2]) await create(api, 'p', version, `text ${version}`);
  const traces = [
    { duration_ms: 100, success: true, total_cost_usd: '0.25' },
    { duration_ms: 200, success: false, total_cost_usd: '0.000001' },
    { duration_ms: 400, success: null, total_cost_usd: null },
  ].map((trace) => anItem({ trace, spans: 0 }));
  await api.send(traces.slice(0, 2));
  for (const item of traces) {
    const usage = { prompt_name: 'p', prompt_version: 2, trace_id: traceIdOf(item) };
    for (const json of [usage, usage, { ...usage, span_id: randomUUID() }, { ...usage, span_id: null }])
      t.match(await use(api, json), { status: 201, body: { status: 'recorded' } });
  }
  const two = {
    version: 2,
    template_text: 'text 2',
    total_traces: 2,
    success_rate: 0.5,
    avg_cost_usd: 0.1250005,
    avg_latency_ms: 150,
    p95_latency_ms: 195,
    scores: [],
  };
  const others = [3, 1].map((version) => ({ version, template_text: `text ${version}`, ...UNUSED }));
  t.strictSame(await compare(api, 'p'), [others[0], two, others[1]]);
  // The link was created before the trace arrived.
  await api.send(traces.slice(2));
  const three = { ...two, total_traces: 3, avg_latency_ms: (100 + 200 + 400) / 3, p95_latency_ms: 380 };
  t.strictSame((await compare(api, 'p'))[1], three);
  const path = `/dashboard/traces/${traceIdOf(traces[2] ?? anItem())}/outcome`;
  t.equal((await api.call('PATCH', path, { json: { success: false } })).status, 200);
  t.strictSame((await compare(api, 'p'))[1], { ...three, success_rate: 1 / 3 });
});

void t.test('rejects unknown prompts and invalid usage', async (t) => {
  const api = await startApi(t);
  await create(api, 'p', 1);
  const good = { prompt_name: 'p', prompt_version: 1, trace_id: randomUUID() };
  for (const json of [
    { ...good, prompt_name: 'q' },
    { ...good, prompt_name: 'P' },
    { ...good, prompt_version: 2 },
  ])
    t.match(await use(api, json), { status: 404, body: { code: 'not_found' } });
  for (const [json, field] of [
    [{ ...good, prompt_name: undefined }, '/prompt_name'],
    [{ ...good, prompt_name: ' ' }, '/prompt_name'],
    [{ ...good, prompt_version: undefined }, '/prompt_version'],
    [{ ...good, prompt_version: -1 }, '/prompt_version'],
    [{ ...good, prompt_version: 1.5 }, '/prompt_version'],
    [{ ...good, prompt_version: '1' }, '/prompt_version'],
    [{ ...good, trace_id: 'x' }, '/trace_id'],
    [{ ...good, span_id: 'x' }, '/span_id'],
    [{ ...good, other: 1 }, '/other'],
  ] as const)
    t.match(await use(api, json), { status: 422, body: { errors: [{ field }] } }, JSON.stringify(json));
  t.equal((await api.call('GET', '/dashboard/prompts/q/compare')).status, 404);

  const stranger = await api.createUser('stranger@example.com', ['read', 'write']);
  t.equal((await use(api, good, stranger.key)).status, 404, 'prompt of another user');
  t.equal((await api.call('GET', '/dashboard/prompts/p/compare', { key: stranger.key })).status, 404);
  for (const [scopes, status] of [
    [['write'], 201],
    [['read', 'manage'], 403],
  ] as const) {
    const { key } = await api.createKey(scopes);
    t.equal((await use(api, good, key)).status, status);
  }
  t.match(await compare(api, 'p'), [UNUSED], 'trace not stored yet');
});

void t.test('ignores traces of other users', async (t) => {
  const api = await startApi(t);
  await create(api, 'p', 1);
  const stranger = await api.createUser('stranger@example.com', ['write']);
  const item = anItem();
  await use(api, { prompt_name: 'p', prompt_version: 1, trace_id: traceIdOf(item) });
  await api.send([item], stranger.key);
  t.match(await compare(api, 'p'), [UNUSED]);
});

void t.test('OTLP spans that name a prompt and version link their traces', async (t) => {
  const api = await startApi(t);
  const odd = ODD_TEXTS.filter((text) => text.trim() !== '').map((text) => text.slice(0, 300).toWellFormed());
  const names = ['greeting', ...odd];
  for (const name of names) await create(api, name, 3);
  const send = async (number: number, ...spans: JsonObject[]): Promise<void> => {
    const traceId = Buffer.alloc(16, number);
    const made = spans.map((attributes, i) => aSpan(i + 1, { traceId, attributes: toKeyValues(attributes) }));
    const body = jsonOf(tracesOf(...made));
    const headers = { 'content-type': 'application/json' };
    t.equal((await api.call('POST', '/otlp/v1/traces', { body, headers })).status, 200);
  };
  const named = (name: string, version: string | number = 3): JsonObject[] => [
    { 'langfuse.observation.prompt.name': name, 'langfuse.observation.prompt.version': version },
    { 'traceloop.prompt.key': name, 'traceloop.prompt.version': version },
    { 'gen_ai.prompt.name': name, 'gen_ai.prompt.version': version },
    { 'gen_ai.prompt.name': name, 'llm.prompt_template.version': version },
  ];
  await send(1, ...named('greeting'));
  t.match(
    await compare(api, 'greeting'),
    [{ total_traces: 1, avg_latency_ms: 1500 }],
    'once, regardless of its attributes',
  );
  await send(1, ...named('greeting'));
  t.match(await compare(api, 'greeting'), [{ total_traces: 1 }]);
  let traces = 1;
  for (const attributes of named('greeting', '3')) {
    await send(++traces, attributes);
    t.match(await compare(api, 'greeting'), [{ total_traces: traces }], JSON.stringify(attributes));
  }
  for (const attributes of [...named('greeting', 4), ...named('Greeting'), ...named('greeting', 'v3')])
    await send(++traces, attributes);
  t.match(await compare(api, 'greeting'), [{ total_traces: 5 }]);
  for (const name of names.slice(1)) {
    await send(++traces, { 'gen_ai.prompt.name': name, 'gen_ai.prompt.version': 3 });
    t.match(await compare(api, name), [{ total_traces: 1 }]);
  }
});
