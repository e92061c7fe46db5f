import t from 'tap';
import type { Receipt } from '../../../src/component/consumer.js';
import { validationProcessor } from '../../../src/processors/validation/factory.js';
import type { ValidationConfig } from '../../../src/processors/validation/config.js';
import { itemReader } from '../../../src/receivers/trace-batch/item-reader.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import type { TracesBatch } from '../../../src/signal/batch.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceHeader, TraceRecord } from '../../../src/signal/trace.js';
import { componentSettings } from '../../support/component-settings.js';
import { anItem } from '../../support/trace-batch.js';

const readItem = itemReader();
const DEFAULTS: ValidationConfig = {
  max_name_length: 1024,
  max_log_body_length: 1_048_576,
  max_text_length: 65_536,
  max_payload_depth: 64,
  max_spans_per_trace: 10_000,
  max_labels: 128,
  max_buckets: 4096,
};

function aRecord(
  change: { readonly trace?: Partial<TraceHeader>; readonly span?: Partial<SpanRecord> } = {},
  spans = 2,
): TraceRecord {
  const read = readItem(anItem({ spans }));
  if (typeof read === 'string') throw new Error(read);
  const last = read.spans.at(-1);
  if (last) Object.assign(last, change.span);
  return { trace: { ...read.trace, ...change.trace }, spans: read.spans };
}

async function validate(
  items: TraceRecord[],
  config: Partial<ValidationConfig> = {},
  refuse: Receipt['refused'] = [],
): Promise<{ readonly receipt: Receipt; readonly passed: readonly TracesBatch[] }> {
  const passed: TracesBatch[] = [];
  const { traces: create } = validationProcessor.create;
  if (create === undefined) throw new Error('validation is not for traces');
  const processor = create({
    ...componentSettings('validation'),
    config: { ...DEFAULTS, ...config },
    next: {
      consume: async (batch) => {
        passed.push(batch);
        return { accepted: batch.items.length - refuse.length, refused: refuse };
      },
    },
  });
  const receipt = await processor.consume({ tenant: 'a-user', items }, { receivedAt: 0 });
  return { receipt, passed };
}

async function reasonOf(item: TraceRecord, config?: Partial<ValidationConfig>): Promise<string | undefined> {
  const { receipt } = await validate([item], config);
  return receipt.refused[0]?.reason;
}

/** An object with that many levels. */
function nested(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < levels; level++) value = { in: value };
  return value;
}

void t.test('valid traces pass unchanged', async (t) => {
  const items = [
    aRecord(),
    aRecord({ trace: { ended_at: null, status: 'running' }, span: { ended_at: null } }),
    aRecord({ span: { parent_span_id: '00000000-0000-0000-0000-000000000000' } }),
    aRecord({}, 0),
    aRecord({ trace: { metadata: nested(64) } }),
    aRecord({ span: { duration_ms: 0, total_tokens: Number.MAX_SAFE_INTEGER } }),
  ];
  const { receipt, passed } = await validate(items);
  t.strictSame(receipt, { accepted: items.length, refused: [] });
  t.equal(passed[0]?.items, items, 'the same batch');
  t.equal(passed[0]?.tenant, 'a-user');
});

void t.test('a trace may end when it starts', async (t) => {
  const item = aRecord();
  t.equal(await reasonOf(aRecord({ trace: { ended_at: item.trace.started_at } })), undefined);
});

void t.test('every rule reports its field in plain words', async (t) => {
  const header: readonly (readonly [Partial<TraceHeader>, string])[] = [
    [{ ended_at: 1 }, '/trace/ended_at: must not be before started_at'],
    [{ agent: '' }, '/trace/agent: must not be empty'],
    [{ agent: ' \n\t\u00a0' }, '/trace/agent: must not be empty'],
    [{ agent: 'x'.repeat(1025) }, '/trace/agent: must not be longer than 1024 characters'],
    [{ agent: '\ud83d\ude00'.repeat(1025) }, '/trace/agent: must not be longer than 1024 characters'],
    [{ agent: 'a\0b' }, '/trace/agent: must not contain the character U+0000'],
    [
      { agent: 'a\ud83d' },
      '/trace/agent: must not contain half of a surrogate pair, which is not a character',
    ],
    [{ duration_ms: -0.001 }, '/trace/duration_ms: must not be negative'],
    [{ duration_ms: NaN }, '/trace/duration_ms: must be a number, and not larger than 9007199254740991'],
    [{ duration_ms: Infinity }, '/trace/duration_ms: must be a number, and not larger than 9007199254740991'],
    [{ total_tokens: -1 }, '/trace/total_tokens: must not be negative'],
    [{ total_tokens: 0.5 }, '/trace/total_tokens: must be a whole number'],
    [
      { total_tokens: 2 ** 53 },
      '/trace/total_tokens: must be a number, and not larger than 9007199254740991',
    ],
    [{ total_cost_usd: -1 }, '/trace/total_cost_usd: must not be negative'],
    [{ total_cost_usd: 1e15 }, '/trace/total_cost_usd: must be less than 1000000'],
    [{ outcome: 'x'.repeat(65_537) }, '/trace/outcome: must not be longer than 65536 characters'],
    [{ error_message: 'x'.repeat(65_537) }, '/trace/error_message: must not be longer than 65536 characters'],
    [{ sdk_version: 'x'.repeat(1025) }, '/trace/sdk_version: must not be longer than 1024 characters'],
    [{ metadata: nested(65) }, '/trace/metadata: must not nest deeper than 64 levels'],
    [{ metadata: nested(100_000) }, '/trace/metadata: must not nest deeper than 64 levels'],
    [{ metadata: { a: [Infinity] } }, '/trace/metadata: must not contain a number too large for a double'],
    [
      { metadata: { a: [{ b: '\udc00' }] } },
      '/trace/metadata: must not contain half of a surrogate pair, which is not a character',
    ],
    [
      { metadata: { '\ud800': 1 } },
      '/trace/metadata: must not contain half of a surrogate pair, which is not a character',
    ],
  ];
  for (const [trace, expected] of header) t.equal(await reasonOf(aRecord({ trace })), expected);

  const id = '11111111-1111-1111-1111-111111111111';
  const span: readonly (readonly [Partial<SpanRecord>, string])[] = [
    [{ trace_id: id }, "/spans/1/trace_id: must be the trace_id of the item's trace"],
    [{ ended_at: 1 }, '/spans/1/ended_at: must not be before started_at'],
    [{ name: '  ' }, '/spans/1/name: must not be empty'],
    [{ model: 'x'.repeat(1025) }, '/spans/1/model: must not be longer than 1024 characters'],
    [{ input_tokens: -1 }, '/spans/1/input_tokens: must not be negative'],
    [{ output_tokens: 1.5 }, '/spans/1/output_tokens: must be a whole number'],
    [{ cost_usd: -1 }, '/spans/1/cost_usd: must not be negative'],
    [{ cost_usd: 1e15 }, '/spans/1/cost_usd: must be less than 1000000'],
    [{ input_data: nested(65) }, '/spans/1/input_data: must not nest deeper than 64 levels'],
    [{ output_data: nested(65) }, '/spans/1/output_data: must not nest deeper than 64 levels'],
    [{ metadata: nested(65) }, '/spans/1/metadata: must not nest deeper than 64 levels'],
  ];
  for (const [change, expected] of span) t.equal(await reasonOf(aRecord({ span: change })), expected);
});

void t.test('a span id is unique within a trace', async (t) => {
  const item = aRecord();
  const spans = item.spans.map((span) => ({ ...span, span_id: item.trace.trace_id }));
  t.equal(await reasonOf({ ...item, spans }), '/spans/1/span_id: occurs twice in this trace');
});

void t.test('two traces of a batch may be equal', async (t) => {
  const item = aRecord();
  const { receipt } = await validate([item, structuredClone(item)]);
  t.strictSame(receipt, { accepted: 2, refused: [] });
});

void t.test('counts characters as code points up to the limit', async (t) => {
  t.equal(await reasonOf(aRecord({ trace: { agent: '\ud83d\ude00'.repeat(1024) } })), undefined);
  t.equal(await reasonOf(aRecord({ trace: { agent: ` ${'x'.repeat(1024)}\n` } })), undefined);
});

void t.test('trims names', async (t) => {
  const item = aRecord({ trace: { agent: ' a b\n' }, span: { name: '\tstep ' } });
  const { passed } = await validate([item]);
  t.equal(passed[0]?.items[0]?.trace.agent, 'a b');
  t.equal(passed[0]?.items[0]?.spans[1]?.name, 'step');
});

void t.test('a span that is its own parent becomes a root', async (t) => {
  const id = '11111111-1111-1111-1111-111111111111';
  const { passed } = await validate([aRecord({ span: { span_id: id, parent_span_id: id } })]);
  t.match(passed[0]?.items[0]?.spans[1], { parent_span_id: null, metadata: { self_parent: true } });
});

void t.test('uses the configured limits', async (t) => {
  t.equal(
    await reasonOf(aRecord({ trace: { agent: 'abcd' } }), { max_name_length: 3 }),
    '/trace/agent: must not be longer than 3 characters (and 5 more problems)',
  );
  t.equal(
    await reasonOf(aRecord({ trace: { outcome: 'abcd' } }), { max_text_length: 3 }),
    '/trace/outcome: must not be longer than 3 characters',
  );
  t.equal(
    await reasonOf(aRecord({ trace: { metadata: nested(3) } }), { max_payload_depth: 2 }),
    '/trace/metadata: must not nest deeper than 2 levels (and 2 more problems)',
  );
  t.equal(
    await reasonOf(aRecord({}, 3), { max_spans_per_trace: 2 }),
    '/spans: must not contain more than 2 spans, but there are 3',
  );
});

void t.test('counts all problems and names the first', async (t) => {
  t.equal(
    await reasonOf(aRecord({ trace: { ended_at: 1, duration_ms: -1 }, span: { name: '' } })),
    '/trace/ended_at: must not be before started_at (and 2 more problems)',
  );
});

void t.test('downstream refusals use the item indexes of the sender', async (t) => {
  const bad = () => aRecord({ trace: { agent: '' } });
  const { receipt, passed } = await validate([bad(), aRecord(), bad(), aRecord(), aRecord()], {}, [
    { index: 1, reason: 'no room' },
  ]);
  t.equal(passed[0]?.items.length, 3);
  t.equal(receipt.accepted, 2);
  t.strictSame(
    receipt.refused.map(({ index, reason }) => [index, reason]),
    [
      [0, '/trace/agent: must not be empty'],
      [2, '/trace/agent: must not be empty'],
      [3, 'no room'],
    ],
  );
});

void t.test('forwards nothing if nothing is valid', async (t) => {
  const { receipt, passed } = await validate([aRecord({ trace: { agent: '' } })]);
  t.equal(receipt.accepted, 0);
  t.strictSame(passed, []);
});
