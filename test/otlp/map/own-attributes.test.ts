import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { mapSpan, mapSpans, SPAN_ID, TRACE_ID } from '../../support/mapped-span.js';
import { aSpan, START, tracesOf } from '../../support/otlp-requests.js';
import { aSpanRecord } from '../../support/run-records.js';

const LLM = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 5 };

void t.test('Jackdaw attributes override every convention and are not kept in metadata', async (t) => {
  const span = mapSpan({
    ...LLM,
    'jackdaw.span.type': 'tool',
    'jackdaw.span.name': 'renamed',
    'jackdaw.span.input_tokens': 7,
    'jackdaw.span.output_tokens': null,
    'jackdaw.span.cost_usd': '0.001250',
    'jackdaw.span.call':
      '{"usage": {"reasoning": 1, "wit": 2}, "cost": {"source": "priced", "rule": "r", "input": 1}}',
    'jackdaw.span.input_data': '{"a": 1}',
    'jackdaw.something.else': 'kept',
  });
  t.match(span, {
    span_id: SPAN_ID,
    type: 'tool',
    name: 'renamed',
    model: 'm',
    input_tokens: 7,
    cost_usd: 1_250_000,
    input_data: { a: 1 },
    metadata: { ...LLM, 'jackdaw.something.else': 'kept', otel: {} },
  });
  t.strictSame(span.call, {
    provider: null,
    usage: { reasoning: 1 },
    cost: { source: 'priced', rule: 'r', input: 1 },
  });
  t.notOk(Object.keys(span.metadata ?? {}).some((key) => key.startsWith('jackdaw.span.')));
});

void t.test('invalid attributes leave a field unchanged', async (t) => {
  const sent = {
    'jackdaw.span.type': 'robot',
    'jackdaw.span.id': 'x',
    'jackdaw.span.name': '  ',
    'jackdaw.span.status': 7,
    'jackdaw.span.input_tokens': -1,
    'jackdaw.span.duration_ms': 'long',
    'jackdaw.span.cost_usd': 'much',
    'jackdaw.span.input_data': '[1]',
    'jackdaw.span.call': '{"cost": {"source": "guessed"}, "usage": {"reasoning": -1}}',
  };
  t.strictSame(mapSpan({ ...LLM, ...sent }), mapSpan(LLM));
});

void t.test('a verbatim span has only the values of its own attributes', async (t) => {
  const id = '0196f000-0000-7000-8000-000000000001';
  const parent = '0196f000-0000-7000-8000-000000000002';
  const span = mapSpan({
    ...LLM,
    'jackdaw.verbatim': true,
    'jackdaw.span.id': id.toUpperCase(),
    'jackdaw.span.parent_id': parent,
    'jackdaw.span.type': 'db',
    'jackdaw.span.metadata': '{"resource": "mine", "attempt": 1}',
  });
  t.strictSame(
    { ...span, started_at: 0, ended_at: 0 },
    aSpanRecord(TRACE_ID, {
      span_id: id,
      parent_span_id: parent,
      type: 'db',
      name: 'span 1',
      status: 'completed',
      started_at: 0,
      ended_at: 0,
      metadata: { resource: 'mine', attempt: 1 },
    }),
  );
});

void t.test('a declared header describes the run; it needs agent and start', async (t) => {
  const header = { 'jackdaw.trace.agent': 'shop', 'jackdaw.trace.started_at': '2026-01-15T11:00:00Z' };
  const map = (...attributes: Parameters<typeof toKeyValues>[0][]) =>
    mapSpans(tracesOf(...attributes.map((each, i) => aSpan(i + 1, { attributes: toKeyValues(each) })))).batch
      .items;
  const success = {
    'jackdaw.trace.success': false,
    'jackdaw.trace.total_cost_usd': '0.5',
    'jackdaw.trace.status': 'failed',
  };
  t.match(map({}, { ...header, ...success }), [
    {
      trace: {
        agent: 'shop',
        started_at: Number(START) / 1000 - 3_600_000_000,
        ended_at: null,
        status: 'failed',
        success: false,
        total_cost_usd: 500_000_000,
        follows_spans: false,
      },
      spans: [{ name: 'span 1' }, { name: 'span 2' }],
    },
  ]);
  const { 'jackdaw.trace.agent': agent, ...noAgent } = header;
  t.equal(agent, 'shop');
  t.match(map(noAgent)[0]?.trace, { follows_spans: true });
  t.match(map({ ...header, 'jackdaw.trace.started_at': 'noon' })[0]?.trace, { follows_spans: true });

  const only = { 'jackdaw.header_only': true };
  t.match(map({ ...header, ...only }), [{ trace: { agent: 'shop' }, spans: [] }]);
  t.equal(map(only)[0]?.spans.length, 1, 'an ordinary span without a header');
  const twice = map(header, { ...header, ...success });
  t.strictSame(
    twice.map(({ trace, spans }) => [trace.status, spans.length]),
    [
      ['completed', 2],
      ['failed', 0],
    ],
    'every header is kept',
  );
});
