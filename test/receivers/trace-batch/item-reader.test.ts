import { Ajv } from 'ajv';
import t from 'tap';
import { itemReader } from '../../../src/receivers/trace-batch/item-reader.js';
import { TraceItemSchema } from '../../../src/receivers/trace-batch/wire-format.js';
import type { JsonValue } from '../../../src/signal/attributes.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { anItem, aSpan, recordedBatches, type Changes } from '../../support/trace-batch.js';

const readItem = itemReader();
const ID = 'A287BB31-E317-4336-10D8-827617471140';
const SPAN_ID = 'FAC5EB98-F2E7-F786-5479-EE5273039DB9';

function record(item: unknown): TraceRecord {
  const read = readItem(item);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

void t.test('replaces times more than a day after their arrival and notes them', async (t) => {
  const noon = Date.parse('2026-11-03T12:00:00Z') * 1000;
  const sent = { started_at: '2026-11-03T11:00:00Z', ended_at: '2027-01-01T00:00:00.5Z', duration_ms: 9e9 };
  const trace = { trace_id: ID, agent: 'a', ...sent, metadata: { a: 1 } };
  const span = aSpan(ID, { ...sent, started_at: '2026-12-01T00:00:00Z' });
  const read = readItem({ trace, spans: [span, aSpan(ID, { ...sent, ended_at: null })] }, noon);
  t.match(read, {
    trace: {
      started_at: noon - 3_600_000_000,
      ended_at: noon,
      duration_ms: null,
      metadata: { a: 1, clock_skew: { ended_at: sent.ended_at } },
    },
    spans: [
      {
        started_at: noon,
        ended_at: noon,
        duration_ms: null,
        metadata: { clock_skew: { started_at: '2026-12-01T00:00:00Z', ended_at: sent.ended_at } },
      },
      { ended_at: null, duration_ms: 9e9 },
    ],
  });
  const backwards = readItem({ trace: { ...trace, started_at: '2028-01-01T00:00:00Z' }, spans: [] }, noon);
  t.match(backwards, { trace: { ended_at: Date.parse('2027-01-01T00:00:00.5Z') * 1000 } }, 'to be refused');
});

void t.test('a span that is its own parent is a root, and says so', async (t) => {
  const { trace, spans } = anItem({ spans: 2 });
  const own = { span_id: SPAN_ID, parent_span_id: SPAN_ID.toLowerCase() };
  const [span, other] = record({
    trace,
    spans: [{ ...spans[0], ...own, metadata: { a: 1 } }, spans[1]],
  }).spans;
  t.match(span, { parent_span_id: null, metadata: { a: 1, self_parent: true } });
  t.equal(other?.metadata?.['self_parent'], undefined);
});

void t.test('the item schema is a valid JSON Schema', async (t) => {
  t.ok(new Ajv().validateSchema(TraceItemSchema));
});

void t.test('converts an item into a record in pipeline units', async (t) => {
  const metadata = { deep: { list: [1, null, 'x'] }, environment: 'other', repository: ' acme/app ' };
  const read = record({
    trace: {
      trace_id: ID,
      agent: ' researcher ',
      status: 'failed',
      started_at: '2026-11-03T09:15:30.1234567+01:00',
      ended_at: '2026-11-03T08:15:31Z',
      duration_ms: 876.5,
      success: false,
      outcome: 'gave up',
      error_message: 'no answer',
      total_tokens: 120,
      total_cost_usd: '0.001250',
      metadata,
      sdk_version: '1.2.3',
      environment: ' staging ',
      release: 'r'.repeat(300),
      agent_version: '',
      a_later_field: true,
    },
    spans: [aSpan(ID, { span_id: SPAN_ID, parent_span_id: ID, cost_usd: 0.25, type: 'agent' })],
  });
  const second = Date.parse('2026-11-03T08:15:30Z') * 1000;
  t.strictSame(read.trace, {
    trace_id: ID.toLowerCase(),
    agent: ' researcher ',
    kind: 'agent',
    status: 'failed',
    started_at: second + 123_456,
    ended_at: second + 1_000_000,
    duration_ms: 876.5,
    success: false,
    outcome: 'gave up',
    error_message: 'no answer',
    total_tokens: 120,
    total_cost_usd: 1_250_000,
    metadata,
    sdk_version: '1.2.3',
    environment: 'staging',
    release: 'r'.repeat(256),
    agent_version: null,
    repository: 'acme/app',
    sample_rate: null,
    follows_spans: false,
    idle_timeout_ms: null,
    orphan_wait_ms: null,
  });
  t.strictSame(read.spans, [
    {
      span_id: SPAN_ID.toLowerCase(),
      trace_id: ID.toLowerCase(),
      parent_span_id: ID.toLowerCase(),
      parent_is_remote: null,
      type: 'agent',
      name: 'answer',
      status: 'completed',
      started_at: second + 250_000,
      ended_at: second + 1_500_000,
      duration_ms: 1250,
      model: 'model-one',
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      cost_usd: 250_000_000,
      error_message: null,
      input_data: { messages: [{ role: 'user', content: 'Why is the sky blue?' }] },
      output_data: { content: 'Because of Rayleigh scattering.' },
      metadata: { attempt: 1 },
      agent_hint: null,
      map_hint: null,
      run_kind: null,
      context: null,
      prompt: null,
      call: null,
      scores: null,
    },
  ]);
});

void t.test('absent and null mean the same and give the defaults', async (t) => {
  const trace = { trace_id: ID, agent: 'a', started_at: '2026-11-03T08:15:30Z' };
  const span = { span_id: SPAN_ID, trace_id: ID, type: 'db', name: 'n', started_at: '2026-11-03T08:15:30Z' };
  const absent = record({ trace, spans: [span] });
  const nulls = record({
    trace: {
      ...trace,
      ...Object.fromEntries(
        Object.keys(absent.trace)
          .filter((key) => !(key in trace))
          .map((key) => [key, null]),
      ),
    },
    spans: [
      {
        ...span,
        ...Object.fromEntries(
          Object.keys(absent.spans[0] ?? {})
            .filter((key) => !(key in span))
            .map((key) => [key, null]),
        ),
      },
    ],
  });
  t.strictSame(nulls, absent);
  t.equal(absent.trace.status, 'completed');
  t.equal(absent.trace.sdk_version, '0.2.0');
  t.equal(absent.trace.ended_at, null);
  t.equal(absent.spans[0]?.status, 'completed');
  t.equal(absent.spans[0]?.parent_span_id, null);
});

void t.test('records have a fixed field order', async (t) => {
  const full = record(anItem({ spans: 1 }));
  const bare = record({
    trace: { started_at: '2026-11-03T08:15:30Z', agent: 'a', trace_id: ID },
    spans: [{ started_at: '2026-11-03T08:15:30Z', name: 'n', type: 'db', trace_id: ID, span_id: SPAN_ID }],
  });
  t.strictSame(Object.keys(bare.trace), Object.keys(full.trace));
  t.strictSame(Object.keys(bare.spans[0] ?? {}), Object.keys(full.spans[0] ?? {}));
});

void t.test('negative zero becomes zero', async (t) => {
  const item = anItem({ trace: { duration_ms: -0, total_tokens: -0, total_cost_usd: -0 } });
  const { trace } = record(item);
  for (const value of [trace.duration_ms, trace.total_tokens, trace.total_cost_usd])
    t.ok(Object.is(value, 0), String(value));
});

void t.test('prototype keys are plain data', async (t) => {
  const text =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"hasOwnProperty":1}';
  const item = anItem();
  const read = record({ ...item, trace: { ...item.trace, metadata: JSON.parse(text) as JsonValue } });
  t.equal(JSON.stringify(read.trace.metadata), text);
  t.notOk('polluted' in {});
  t.notOk('polluted' in read.trace);
  const hidden = JSON.parse(`{"__proto__":${JSON.stringify(item)}}`) as unknown;
  t.equal(readItem(hidden), '/trace: is required (and 1 more problem)');
});

void t.test('every shape rule reports its field in plain words', async (t) => {
  const header: readonly (readonly [Changes, string])[] = [
    [{ trace_id: undefined }, '/trace/trace_id: is required'],
    [{ trace_id: null }, '/trace/trace_id: must be a string, not null'],
    [{ trace_id: 7 }, '/trace/trace_id: must be a string, not a number'],
    [{ trace_id: 'abc' }, '/trace/trace_id: must be a UUID, not "abc"'],
    [{ agent: undefined }, '/trace/agent: is required'],
    [{ agent: ['a'] }, '/trace/agent: must be a string, not an array'],
    [{ status: 'done' }, '/trace/status: must be one of running, completed, failed, timed_out, not "done"'],
    [{ status: 1 }, '/trace/status: must be one of running, completed, failed, timed_out'],
    [{ started_at: undefined }, '/trace/started_at: is required'],
    [{ started_at: 1_778_000_000 }, '/trace/started_at: must be a string, not a number'],
    [
      { started_at: '2026-11-03' },
      '/trace/started_at: must be an ISO 8601 date-time such as 2026-11-03T08:15:30.250Z, not "2026-11-03"',
    ],
    [{ ended_at: false }, '/trace/ended_at: must be a string, not a boolean'],
    [{ duration_ms: '12' }, '/trace/duration_ms: must be a number, not a string'],
    [{ duration_ms: -1 }, '/trace/duration_ms: must not be negative'],
    [{ duration_ms: Infinity }, '/trace/duration_ms: is too large for a number'],
    [{ duration_ms: 1e16 }, '/trace/duration_ms: must not be greater than 9007199254740991'],
    [{ success: 'true' }, '/trace/success: must be a boolean, not a string'],
    [{ outcome: 1 }, '/trace/outcome: must be a string, not a number'],
    [{ total_tokens: 1.5 }, '/trace/total_tokens: must be a whole number'],
    [{ total_tokens: '15' }, '/trace/total_tokens: must be a whole number, not a string'],
    [{ total_tokens: 2 ** 53 }, '/trace/total_tokens: must not be greater than 9007199254740991'],
    [
      { total_cost_usd: 'free' },
      '/trace/total_cost_usd: must be an amount of US dollars such as "0.001250", less than 1000000, not "free"',
    ],
    [{ total_cost_usd: true }, '/trace/total_cost_usd: must be a string or a number, not a boolean'],
    [{ total_cost_usd: -0.5 }, '/trace/total_cost_usd: must not be negative'],
    [{ total_cost_usd: '-5e-1' }, '/trace/total_cost_usd: must not be negative'],
    [
      { total_cost_usd: '-0e1' },
      '/trace/total_cost_usd: must be an amount of US dollars such as "0.001250", less than 1000000, not "-0e1"',
    ],
    [{ total_cost_usd: 1e9 }, '/trace/total_cost_usd: must not be greater than 999999.999999999'],
    [{ metadata: [] }, '/trace/metadata: must be an object, not an array'],
    [{ metadata: 'x' }, '/trace/metadata: must be an object, not a string'],
    [{ sdk_version: 2 }, '/trace/sdk_version: must be a string, not a number'],
  ];
  for (const [changes, expected] of header) t.equal(readItem(anItem({ trace: changes })), expected);

  const span: readonly (readonly [Changes, string])[] = [
    [{ span_id: 'x' }, '/spans/1/span_id: must be a UUID, not "x"'],
    [{ parent_span_id: '' }, '/spans/1/parent_span_id: must be a UUID, not ""'],
    [{ type: undefined }, '/spans/1/type: is required'],
    [{ type: null }, '/spans/1/type: must be one of agent, llm, tool, http, db, custom'],
    [{ type: 'LLM' }, '/spans/1/type: must be one of agent, llm, tool, http, db, custom, not "LLM"'],
    [{ input_tokens: {} }, '/spans/1/input_tokens: must be a whole number, not an object'],
    [{ input_data: 'text' }, '/spans/1/input_data: must be an object, not a string'],
  ];
  for (const [changes, expected] of span) {
    const item = anItem();
    const bad = aSpan(item.trace['trace_id'] as string, changes);
    t.equal(readItem({ ...item, spans: [...item.spans, bad] }), expected);
  }

  const shapes: readonly (readonly [unknown, string])[] = [
    [null, 'must be an object, not null'],
    [[], 'must be an object, not an array'],
    ['x', 'must be an object, not a string'],
    [{}, '/trace: is required (and 1 more problem)'],
    [{ trace: anItem().trace }, '/spans: is required'],
    [{ ...anItem(), spans: null }, '/spans: must be an array, not null'],
    [{ ...anItem(), spans: {} }, '/spans: must be an array, not an object'],
    [{ ...anItem(), spans: [1] }, '/spans/0: must be an object, not a number'],
    [{ ...anItem(), trace: 'x' }, '/trace: must be an object, not a string'],
  ];
  for (const [item, expected] of shapes) t.equal(readItem(item), expected);
});

void t.test('names the first field in documented order and counts the others', async (t) => {
  const item = anItem({ trace: { agent: 7, started_at: 'now', duration_ms: -1 } });
  const spans = [aSpan('x', { name: undefined, span_id: 'y' })];
  t.equal(readItem({ ...item, spans }), '/trace/agent: must be a string, not a number (and 5 more problems)');
});

void t.test('a missing field is reported in its order', async (t) => {
  const late = anItem({ trace: { trace_id: 'x', started_at: undefined } });
  t.match(readItem(late), /^\/trace\/trace_id: must be a UUID.*1 more problem/);
  const early = anItem({ trace: { trace_id: undefined, started_at: 'x' } });
  t.match(readItem(early), /^\/trace\/trace_id: is required.*1 more problem/);
  const header = anItem({ trace: { metadata: [] } });
  t.match(readItem({ ...header, spans: [{}] }), /^\/trace\/metadata: must be an object/);
});

void t.test('limits sent text in error messages', async (t) => {
  const reason = readItem(anItem({ trace: { started_at: 'x'.repeat(1_000_000) } }));
  t.ok(typeof reason === 'string' && reason.length < 250, JSON.stringify(reason).slice(0, 300));
});

const recorded = recordedBatches();

void t.test(
  'recorded runs of real agents are valid',
  { skip: recorded.size === 0 && 'the folder of recorded runs is not here' },
  async (t) => {
    for (const [name, { traces }] of recorded)
      t.notOk(
        traces.map((item) => readItem(item)).find((read) => typeof read === 'string'),
        name,
      );
  },
);
