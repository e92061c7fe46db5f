import t from 'tap';
import { traceIdOf } from '../../support/header-text.js';
import { anItem } from '../../support/trace-batch.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { startApi } from '../../support/api.js';
import { aSpan, jsonOf, START, tracesOf } from '../../support/otlp-requests.js';

/** Trace 1 with span ids 1 and 2. */
const TRACE = '01010101-0101-0101-0101-010101010101';
const [ROOT, CALL] = [1, 2].map(
  (number) => `01010101-0101-0101-${`0${number}`.repeat(2)}-${`0${number}`.repeat(6)}`,
);

interface Scored {
  readonly success?: boolean;
  readonly outcome?: string;
  readonly scores: readonly { readonly name: string; readonly span_id: string | null; readonly at: string }[];
}

const evaluation = (name: string, more: JsonObject = {}) =>
  toKeyValues({ 'gen_ai.evaluation.name': name, 'gen_ai.evaluation.score.value': 1, ...more });
const after = (seconds: number) => `${BigInt(START) + BigInt(seconds) * 1_000_000_000n}`;

const traces = tracesOf(
  aSpan(1, {
    traceId: Buffer.alloc(16, 1),
    parentSpanId: null,
    events: [
      {
        name: 'gen_ai.evaluation.result',
        timeUnixNano: after(1),
        attributes: evaluation('Relevance', { 'gen_ai.evaluation.explanation': 'On topic.' }),
      },
    ],
  }),
  aSpan(2, {
    traceId: Buffer.alloc(16, 1),
    parentSpanId: Buffer.alloc(8, 1),
    endTimeUnixNano: after(2),
    attributes: [
      ...toKeyValues({ 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': 'resp-1' }),
      ...evaluation('Fluency', { 'gen_ai.evaluation.score.value': '0.25' }),
    ],
  }),
);
const logRecords = [
  {
    timeUnixNano: after(3),
    eventName: 'gen_ai.evaluation.result',
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, 1),
    attributes: evaluation('success', {
      'gen_ai.evaluation.score.value': 0,
      'gen_ai.evaluation.score.label': 'fail',
    }),
  },
  {
    timeUnixNano: after(4),
    attributes: evaluation('Tone', {
      'event.name': 'gen_ai.evaluation.result',
      'gen_ai.response.id': 'resp-1',
    }),
  },
];

for (const order of [
  ['traces', 'logs'],
  ['logs', 'traces'],
] as const)
  void t.test(`${order[0]} first: evaluations by OTLP are scores of runs and spans`, async (t) => {
    const api = await startApi(t);
    const requests = { traces, logs: { resourceLogs: [{ scopeLogs: [{ logRecords }] }] } };
    // A client that got no answer repeats everything.
    for (const signal of [...order, ...order]) {
      const headers = { 'content-type': 'application/json' };
      const body = jsonOf(requests[signal]);
      const { status } = await api.call('POST', `/otlp/v1/${signal}`, { body, headers, key: api.adminKey });
      t.equal(status, 200);
    }
    const expected = [
      { name: 'Relevance', span_id: ROOT, value: 1, label: null, comment: 'On topic.', source: 'otlp' },
      { name: 'Fluency', span_id: CALL, value: 0.25, response_id: 'resp-1' },
      { name: 'success', span_id: ROOT, value: 0, label: 'fail', comment: null, error_type: null },
      { name: 'Tone', span_id: CALL, value: 1, response_id: 'resp-1' },
    ];
    for (const path of ['', '?include=metadata', '/spans']) {
      const run = await api.get<Scored>(`/dashboard/traces/${TRACE}${path}`);
      t.match(run, { success: false, outcome: 'fail', scores: expected }, path);
      t.equal(run.scores.length, expected.length);
      t.equal(
        run.scores[0]?.at,
        new Date(Number(BigInt(after(1)) / 1_000_000n)).toISOString().replace('.000', ''),
      );
    }
    const span = await api.get<Scored>(`/dashboard/traces/${TRACE}/spans/${String(CALL)}?max_bytes=1024`);
    t.strictSame(
      span.scores.map(({ name }) => name),
      ['Fluency', 'Tone'],
    );
    const ids = { trace_id: '01'.repeat(16), span_id: '02'.repeat(8) };
    const json = { scores: [{ ...ids, name: 'hand', value: 1 }] };
    t.equal((await api.call('POST', '/scores', { json })).status, 200);
    const rated = await api.get<Scored>(`/dashboard/traces/${TRACE}`);
    t.match(rated.scores.at(-1), { name: 'hand', span_id: CALL }, 'ids as the SDK prints them');
  });

const NOVEMBER = 'start_time=2026-11-01T00:00:00Z&end_time=2026-12-01T00:00:00Z';

interface Listed {
  readonly count: number;
  readonly items: readonly { readonly trace_id: string; readonly scores?: readonly object[] }[];
}

void t.test('runs are found by their scores, and scores are counted', async (t) => {
  const api = await startApi(t);
  const items = [0, 1, 2].map((i) => anItem({ trace: { agent: `agent ${i % 2}`, environment: 'prod' } }));
  await api.send(items);
  const ids = items.map(traceIdOf);
  const score = async (run: number, name: string, of: object) => {
    const json = { scores: [{ trace_id: ids[run], name, ...of }] };
    t.equal((await api.call('POST', '/scores', { json })).status, 200);
  };
  const odd = 'is it <"ok"> & = 100 % + ü?';
  await score(0, 'helpful', { value: 0.25 });
  await score(1, 'helpful', { value: 1, label: '7' });
  await score(1, odd, { value: -1.5 });
  const found = async (...conditions: string[]) => {
    const query = conditions.map((one) => `score=${encodeURIComponent(one)}`).join('&');
    const { items, count } = await api.get<Listed>(`/dashboard/traces?scores=true&${query}`);
    t.equal(count, items.length, query);
    const csv = await api.call('GET', `/dashboard/traces?${query}`, { headers: { accept: 'text/csv' } });
    t.equal(String(csv.body).trim().split('\n').length - 1, count, 'of the export');
    const { total } = await api.get<{ total: { runs: number } }>(
      `/dashboard/series?${NOVEMBER}&interval=1d&${query}`,
    );
    t.equal(total.runs, count, 'of the series');
    return items.map(({ trace_id }) => ids.indexOf(trace_id)).sort();
  };
  for (const [conditions, runs] of [
    [['helpful<0.5'], [0]],
    [['helpful <= .25'], [0]],
    [['helpful<=.25'], [0]],
    [['helpful'], [0, 1]],
    [['!helpful'], [2]],
    [['helpful="7"'], [1]],
    [['helpful=7'], []],
    [['helpful!=1'], [0]],
    [['helpful!="7"'], []],
    [[`${JSON.stringify(odd)}=-1.5`], [1]],
    [['helpful>0', `!${JSON.stringify(odd)}`], [0]],
    [['helpful>0', 'helpful>=1'], [1]],
  ] as const)
    t.strictSame(await found(...conditions), runs, conditions.join(' and '));
  const listed = await api.get<Listed>('/dashboard/traces?scores=true');
  t.match(listed.items.find(({ trace_id }) => trace_id === ids[1])?.scores, [
    { name: 'helpful', scores: 1, mean: 1, label: '7' },
    { name: odd },
  ]);
  for (const condition of ['', '<0.5', '!a<1', 'a<b', 'a=', '"a<1', '"a"b', 'a<1e999', 'a==1', 'a=<1'])
    t.equal(
      (await api.call('GET', `/dashboard/traces?score=${encodeURIComponent(condition)}`)).status,
      422,
      condition,
    );

  const stats = await api.get<{ interval: string | null; items: readonly object[] }>('/dashboard/scores');
  t.match(stats, {
    interval: null,
    items: [
      { name: 'helpful', key: null, scores: 2, values: 2, mean: 0.625, min: 0.25, max: 1, buckets: [] },
      { name: odd, mean: -1.5, labels: [] },
    ],
  });
  t.match(await api.get(`/dashboard/scores?by=agent&name=helpful&interval=1d&${NOVEMBER}`), {
    interval: '1d',
    items: [
      { agent_name: 'agent 0', mean: 0.25, buckets: [{ start: '2026-11-03T00:00:00Z', mean: 0.25 }] },
      { agent_name: 'agent 1', mean: 1, labels: [{ label: '7', scores: 1 }] },
    ],
  });
  t.match(await api.get('/dashboard/scores?by=model'), {
    items: [{ key: 'model-one', scores: 2 }, { key: 'model-one' }],
  });
  t.match(await api.get('/dashboard/scores?environment=other'), { items: [] });
  for (const query of ['by=prompt_version', 'by=user', 'interval=1w'])
    t.equal((await api.call('GET', `/dashboard/scores?${query}`)).status, 422, query);

  await api.call('POST', '/dashboard/prompts', { json: { name: 'p', version: 1, template_text: 'x' } });
  const usage = { prompt_name: 'p', prompt_version: 1, trace_id: ids[1] };
  await api.call('POST', '/dashboard/prompts/usage', { json: usage });
  t.match(await api.get('/dashboard/prompts/p/compare'), {
    versions: [{ version: 1, scores: [{ name: 'helpful', scores: 1, mean: 1 }, { name: odd }] }],
  });

  const [agent] = await api.get<{ id: string; name: string }[]>('/agents');
  const rule = {
    agent_id: agent?.id,
    type: 'score_threshold',
    threshold: 0.5,
    score_config: { score_name: 'helpful', direction: agent?.name === 'agent 0' ? 'below' : 'above' },
  };
  const created = await api.call('POST', '/alerts', { json: rule });
  t.match(created, {
    status: 201,
    body: { score_config: { ...rule.score_config, min_samples: 1 }, threshold: 0.5 },
  });
  const tried = await api.call('POST', `/alerts/${(created.body as { id: string }).id}/test`);
  t.match(tried.body, {
    verdict: 'met',
    unit: 'score',
    sample_count: 1,
    conditions: [{ score_name: 'helpful', met: true }],
  });
  const preview = await api.call('POST', '/alerts/preview', { json: { alert: rule, hours: 6 } });
  t.equal(preview.status, 200, JSON.stringify(preview.body).slice(0, 500));
  const ofAll = { ...rule, agent_id: undefined, all_agents: true };
  const all = await api.call('POST', '/alerts/preview', { json: { alert: ofAll, hours: 6 } });
  t.match(all.body, { now: { value: 0.625, sample_count: 2 } });
  const few = { ...rule, score_config: { ...rule.score_config, min_samples: 2 } };
  const other = await api.call('POST', '/alerts', { json: few });
  const { body } = await api.call('POST', `/alerts/${(other.body as { id: string }).id}/test`);
  t.match(body, { verdict: 'no_data', value: null });
  for (const [change, field] of [
    [{ score_config: undefined }, '/score_config'],
    [{ type: 'failure_rate' }, '/score_config'],
    [{ agent_id: undefined, target_service: 'x' }, '/target_service'],
  ] as const)
    t.match(await api.call('POST', '/alerts', { json: { ...rule, ...change } }), {
      status: 422,
      body: { errors: [{ field }] },
    });
});
