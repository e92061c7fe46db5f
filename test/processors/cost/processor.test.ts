import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { CallDetails, UsageParts } from '../../../src/signal/call-details.js';
import { costProcessor } from '../../../src/processors/cost/factory.js';
import { itemReader } from '../../../src/receivers/trace-batch/item-reader.js';
import { TestHost } from '../../../src/testing/test-host.js';
import { componentSettings } from '../../support/component-settings.js';
import { startTestDaemon } from '../../support/daemon.js';
import { metricValues } from '../../support/engine.js';
import { traceIdOf } from '../../support/header-text.js';
import { aSpan as anOtlpSpan, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { aSpan, anItem } from '../../support/trace-batch.js';
import { TracesClient } from '../../support/traces-client.js';
import { testFolder } from '../../support/test-folder.js';

const TABLE = `date: '2026-01-01'
models:
  - { match: [ours-*], input: 2, output: 10, cache_read: 0.5, cache_write: 2.5, audio_input: 20, audio_output: 40 }
  - { match: [embedder], input: 0.1, output: 0 }
  - { match: [claude-x], input: 4, output: 20, cache_write: 5, tiers: { batch: 0.5 } }
  - { match: [hours], input: 4, output: 20, cache_write: 5, cache_write_5m: 6, cache_write_1h: 7 }
  - { match: [precious], input: 1000000, output: 1000000 }
`;

const usage = (parts: UsageParts): CallDetails => ({ provider: null, usage: parts, cost: null });

/** A span and its expected result. Cost in nano-USD. */
const CASES: readonly [
  name: string,
  said: Partial<SpanRecord>,
  cost: number | null,
  source: string | undefined,
  result: string,
][] = [
  ['tokens and a model', { input_tokens: 100, output_tokens: 20 }, 400_000, 'priced', 'priced'],
  [
    'parts of the input',
    { input_tokens: 100, output_tokens: 20, call: usage({ cached_read: 60, cached_write: 20 }) },
    320_000,
    'priced',
    'priced',
  ],
  [
    'parts of the output',
    { input_tokens: 100, output_tokens: 20, call: usage({ reasoning: 15 }) },
    400_000,
    'priced',
    'priced',
  ],
  [
    'audio',
    { input_tokens: 100, output_tokens: 20, call: usage({ audio_input: 60, audio_output: 20 }) },
    80_000 + 1_200_000 + 800_000,
    'priced',
    'priced',
  ],
  [
    'cache writes by lifetime',
    {
      model: 'hours',
      input_tokens: 100,
      call: usage({ cached_write: 60, cached_write_5m: 10, cached_write_1h: 30 }),
    },
    160_000 + 100_000 + 60_000 + 210_000,
    'priced',
    'priced',
  ],
  [
    'cache writes of Claude for an hour',
    { model: 'claude-x', input_tokens: 100, call: usage({ cached_write: 100, cached_write_1h: 100 }) },
    800_000,
    'priced',
    'priced',
  ],
  [
    'a service tier',
    {
      model: 'claude-x',
      input_tokens: 100,
      call: { provider: null, usage: null, cost: null, tier: 'batch' },
    },
    200_000,
    'priced',
    'priced',
  ],
  [
    'a service tier without a price',
    { model: 'claude-x', input_tokens: 100, call: { provider: null, usage: null, cost: null, tier: 'flex' } },
    400_000,
    'priced',
    'priced',
  ],
  [
    'a cost of nothing from a cache',
    {
      cost_usd: 0,
      input_tokens: 100,
      call: { provider: null, usage: null, cost: null, isCacheHit: true },
    },
    0,
    undefined,
    'reported',
  ],
  ['input alone', { input_tokens: 100 }, 200_000, 'priced', 'priced'],
  ['output alone', { output_tokens: 20 }, 200_000, 'priced', 'priced'],
  ['input and the total', { input_tokens: 100, total_tokens: 120 }, 400_000, 'priced', 'priced'],
  ['output and the total', { output_tokens: 20, total_tokens: 120 }, 400_000, 'priced', 'priced'],
  ['the total alone', { total_tokens: 120 }, null, undefined, 'no_parts'],
  ['the total of an embedding', { model: 'embedder', total_tokens: 120 }, 12_000, 'priced', 'priced'],
  ['no tokens used', { input_tokens: 0, output_tokens: 0 }, 0, 'priced', 'priced'],
  ['a failed call', { input_tokens: 100, output_tokens: 0, status: 'failed' }, 200_000, 'priced', 'priced'],
  ['an unknown model', { model: 'theirs', input_tokens: 1 }, null, undefined, 'unknown_model'],
  ['no model', { model: null, input_tokens: 1 }, null, undefined, 'no_model'],
  ['too much money', { model: 'precious', input_tokens: 10 ** 9 }, null, undefined, 'too_large'],
  ['no tokens', {}, null, undefined, ''],
  ['running', { input_tokens: 100, status: 'running' }, null, undefined, ''],
  ['another type', { input_tokens: 100, type: 'agent' }, null, undefined, ''],
  ['a cost', { cost_usd: 7, input_tokens: 100 }, 7, undefined, 'reported'],
  ['a cost of nothing', { cost_usd: 0, input_tokens: 100 }, 200_000, 'priced', 'priced'],
  ['a cost of nothing without tokens', { cost_usd: 0 }, 0, undefined, 'reported'],
  [
    'a cost of nothing, of no model',
    { cost_usd: 0, input_tokens: 1, model: 'theirs' },
    0,
    undefined,
    'reported',
  ],
  [
    'a cost of nothing, of another type',
    { cost_usd: 0, input_tokens: 1, type: 'agent' },
    0,
    undefined,
    'reported',
  ],
  ['a cost of nothing so far', { cost_usd: 0, input_tokens: 1, status: 'running' }, null, undefined, ''],
  ['a cost of another type', { cost_usd: 7, type: 'tool', model: null }, 7, undefined, 'reported'],
  [
    'a cost priced elsewhere',
    {
      cost_usd: 7,
      call: { provider: null, usage: null, cost: { source: 'priced', rule: 'theirs', input: 7 } },
    },
    7,
    'priced',
    'reported',
  ],
];

function spansOf(cases: readonly Partial<SpanRecord>[]): SpanRecord[] {
  const read = itemReader()(anItem({ spans: cases.length }));
  if (typeof read === 'string') throw new Error(read);
  const blank = {
    type: 'llm',
    status: 'completed',
    model: 'ours-1',
    input_tokens: null,
    output_tokens: null,
    total_tokens: null,
    cost_usd: null,
    call: null,
  } as const;
  return read.spans.map((span, index) => ({ ...span, ...blank, ...cases[index] }));
}

void t.test('sets the cost of each span and its source', async (t) => {
  const prices = join(testFolder(t), 'prices.yaml');
  writeFileSync(prices, TABLE);
  const settings = componentSettings('cost/ours');
  const { traces: create } = costProcessor.create;
  if (create === undefined) throw new Error('cost is not for traces');
  t.strictSame(costProcessor.check?.({ prices, trust_zero: false }), []);
  const processor = create({
    ...settings,
    config: { prices, trust_zero: false },
    next: { consume: async (batch) => ({ accepted: batch.items.length, refused: [] }) },
  });
  await processor.start?.(new TestHost());
  t.match(settings.logger.lines.join('\n'), /2026-01-01/);
  const spans = spansOf(CASES.map(([, tokens]) => structuredClone(tokens)));
  const read = itemReader()(anItem());
  if (typeof read === 'string') throw new Error(read);
  const item = { trace: read.trace, spans };
  t.strictSame(await processor.consume({ tenant: 'a-user', items: [item] }, { receivedAt: 0 }), {
    accepted: 1,
    refused: [],
  });
  const expected: Record<string, number> = {};
  CASES.forEach(([name, tokens, cost, source, result], index) => {
    t.equal(spans[index]?.cost_usd, cost, name);
    t.equal(spans[index]?.call?.cost?.source, source, `${name}: source`);
    t.strictSame(spans[index]?.call?.usage ?? null, tokens.call?.usage ?? null, `${name}: usage`);
    const { tier } = tokens.call ?? {};
    t.equal(spans[index]?.call?.cost?.tier, tier === 'flex' ? 'unpriced' : tier, `${name}: tier`);
    const series = `jackdaw_cost_spans_total{processor="cost/ours",result="${result}"}`;
    if (result !== '') expected[series] = (expected[series] ?? 0) + 1;
  });
  t.strictSame(await metricValues(settings.meter, 'jackdaw_cost_spans_total'), expected);
});

void t.test('a daemon uses the shipped table and updates trace totals', async (t) => {
  const { url, key, meter } = await startTestDaemon(t);
  const client = new TracesClient(url, key);
  const call = (traceId: string, changes: JsonObject) => ({
    ...aSpan(traceId, { cost_usd: undefined, total_tokens: undefined }),
    model: 'claude-sonnet-4-5',
    input_tokens: 1000,
    output_tokens: 100,
    ...changes,
  });
  const item = anItem({ spans: 0 });
  const traceId = traceIdOf(item);
  await client.sendTraces([
    {
      trace: item.trace,
      spans: [
        call(traceId, { name: 'a' }),
        call(traceId, { name: 'b', metadata: { usage: { cache_read: 1000 } } }),
        call(traceId, { name: 'c', cost_usd: '0.5' }),
        call(traceId, { name: 'd', model: 'model-one' }),
        call(traceId, {
          name: 'e',
          metadata: {
            usage: { cache_creation: { ephemeral_1h_input_tokens: 1000 } },
            service_tier: 'batch',
          },
        }),
        call(traceId, { name: 'f', cost_usd: '0', metadata: { cache_hit: true } }),
        call(traceId, {
          name: 'g',
          total_tokens: 2100,
          metadata: { usage: { thoughtsTokenCount: 1000 } },
        }),
      ],
    },
  ]);
  const trace = await client.readTrace(traceId);
  const costs: Record<string, unknown> = {};
  for (const span of trace?.spans ?? []) costs[String(span['name'])] = span['cost_usd'];
  t.strictSame(costs, { a: 0.0045, b: 0.0018, c: 0.5, d: null, e: 0.00375, f: 0, g: 0.0195 });
  t.equal(trace?.['total_cost_usd'], 0.52955, 'sum of the spans');
  await client.sendTraces([
    { trace: item.trace, spans: [call(traceId, { name: 'late', output_tokens: 0 })] },
  ]);
  t.equal((await client.readTrace(traceId))?.['total_cost_usd'], 0.53255, 'late spans are added');
  const declared = anItem({ trace: { total_cost_usd: '3' }, spans: 0 });
  const declaredId = traceIdOf(declared);
  await client.sendTraces([{ trace: declared.trace, spans: [call(declaredId, {})] }]);
  t.equal((await client.readTrace(declaredId))?.['total_cost_usd'], 3, 'a declared total stays');
  t.match(await metricValues(meter, 'jackdaw_cost_spans_total'), {
    'jackdaw_cost_spans_total{processor="cost",result="priced"}': 6,
    'jackdaw_cost_spans_total{processor="cost",result="reported"}': 2,
    'jackdaw_cost_spans_total{processor="cost",result="unknown_model"}': 1,
  });
});

void t.test('a running call is priced when it ends', async (t) => {
  const { url, key } = await startTestDaemon(t);
  const client = new TracesClient(url, key);
  const item = anItem({ trace: { status: 'running', ended_at: undefined }, spans: 0 });
  const traceId = traceIdOf(item);
  const span = aSpan(traceId, {
    cost_usd: undefined,
    total_tokens: undefined,
    model: 'gpt-5',
    input_tokens: 1000,
  });
  const running = { ...span, status: 'running', ended_at: null, duration_ms: null, output_tokens: null };
  await client.sendTraces([{ trace: item.trace, spans: [running] }]);
  t.equal((await client.readTrace(traceId))?.spans[0]?.['cost_usd'], null);
  await client.sendTraces([{ trace: item.trace, spans: [{ ...span, output_tokens: 200 }] }]);
  const trace = await client.readTrace(traceId);
  t.equal(trace?.spans[0]?.['cost_usd'], 0.00325);
  t.equal(trace?.['total_cost_usd'], 0.00325);
});

void t.test('an OTLP model call is priced with the parts of its input', async (t) => {
  const { url, key } = await startTestDaemon(t);
  const attributes = (values: Readonly<Record<string, string | number>>) =>
    Object.entries(values).map(([name, value]) => ({
      key: name,
      value: typeof value === 'string' ? { stringValue: value } : { intValue: value },
    }));
  const call = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.response.model': 'claude-sonnet-4-5-20250929',
    'gen_ai.usage.input_tokens': 1000,
    'gen_ai.usage.output_tokens': 100,
  };
  const spans = [
    anOtlpSpan(1, { name: 'agent' }),
    anOtlpSpan(2, {
      parentSpanId: Buffer.alloc(8, 1),
      attributes: attributes({
        ...call,
        'gen_ai.usage.cache_read.input_tokens': 600,
        'gen_ai.usage.cache_creation.input_tokens': 200,
      }),
    }),
    anOtlpSpan(3, {
      parentSpanId: Buffer.alloc(8, 1),
      attributes: [...attributes(call), { key: 'gen_ai.usage.cost', value: { doubleValue: 0.25 } }],
    }),
  ];
  const answer = await fetch(`${url}/api/v1/otlp/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(protobufOf('traces', tracesOf(...spans))),
  });
  t.equal(answer.status, 200);
  const client = new TracesClient(url, key);
  const trace = await client.readTrace('01010101-0101-0101-0101-010101010101');
  t.strictSame(trace?.spans.map((span) => span['cost_usd']).sort(), [0.00303, 0.25, null]);
  t.equal(trace?.['total_cost_usd'], 0.25303);
  t.match(await client.read('/api/v1/dashboard/models'), {
    items: [{ model: 'claude-sonnet-4-5-20250929', calls: 2, priced_calls: 2, total_cost: 0.25303 }],
  });
});
