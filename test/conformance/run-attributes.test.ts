import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { toKeyValues } from '../../src/otlp/encode/value.js';
import { attributeReader } from '../../src/otlp/map/stored-attributes.js';
import { spansToTraces } from '../../src/otlp/map/spans-to-traces.js';
import type { KeyValue } from '../../src/otlp/wire/requests.js';
import type { JsonValue } from '../../src/signal/attributes.js';
import { serializeJson } from '../../src/signal/json.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { AttributeCondition, RunCursor, TextSearch } from '../../src/storage/contracts/runs.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const LONG = 60_000;

const KEYS = [
  'plan',
  'http.route',
  `it's "q" \\x`,
  'nul\0key',
  '東京',
  'ключ',
  // Reserved in the metadata of spans received by OTLP.
  'tags',
  'session_id',
  'otel',
  '__proto__',
  'constructor',
  '',
  'k%_*',
  'a\ufffdb',
  'x'.repeat(1000),
] as const;

const VALUES: readonly JsonValue[] = [
  'red',
  'Red',
  'a red one',
  'ΟΔΟΣ',
  'ΟΔΟΣΑ',
  '東京都',
  42,
  '42',
  -4.5,
  1e21,
  2n ** 60n,
  true,
  'true',
  false,
  null,
  '',
  ['red', 'blue'],
  '["red","blue"]',
  [],
  { deep: [1, 'red'] },
  // Also the base64 of bytes.
  'acme',
  `it's "q" \\x`,
  'nul\0 and\nline',
  'NaN',
  'x'.repeat(1000),
];

/** A span: its attributes as JSON. `bytes` and `double` are sent as such by OTLP; `resource` too. */
const aSpan = fc.record({
  door: fc.constantFrom('batch', 'otlp model', 'otlp other'),
  attributes: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), { maxKeys: 4 }),
  resource: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), { maxKeys: 2 }),
  odd: fc.constantFrom(
    'none',
    'bytes',
    'bytes like a number',
    'zero',
    'half',
    'large',
    'false',
    'NaN',
    'empty',
    'twice',
  ),
});
type Span = typeof aSpan extends fc.Arbitrary<infer S> ? S : never;
const aRun = fc.record({ spans: fc.array(aSpan, { maxLength: 4 }), at: fc.nat(5) });
type Run = typeof aRun extends fc.Arbitrary<infer R> ? R : never;

const aCondition: fc.Arbitrary<AttributeCondition> = fc.record({
  key: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...KEYS.slice(0, 3)) }, fc.constantFrom(...KEYS)),
  test: fc.constantFrom('is', 'is_not', 'contains'),
  value: fc.oneof(
    fc.constantFrom(...VALUES).map((value) => textOf(value) ?? ''),
    fc.constantFrom(
      'RED',
      '1234',
      '0',
      '0.5',
      '1152921504606847000',
      'false',
      'οδος',
      'οδο',
      '4',
      'ru',
      '"',
      '\0',
      '京',
      'none',
    ),
  ),
});

function textOf(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : serializeJson(value);
}

/** The attributes that a span sends by OTLP, which are hard to write as JSON. */
const ODD: Readonly<
  Record<Span['odd'], { readonly sent: readonly KeyValue[]; readonly shown: string | null }>
> = {
  none: { sent: [], shown: null },
  bytes: { sent: [{ key: 'plan', value: { bytesValue: Buffer.from('acme', 'base64') } }], shown: 'acme' },
  'bytes like a number': {
    sent: [{ key: 'plan', value: { bytesValue: Buffer.from('1234', 'base64') } }],
    shown: '1234',
  },
  zero: { sent: [{ key: 'plan', value: { doubleValue: -0 } }], shown: '0' },
  half: { sent: [{ key: 'plan', value: { doubleValue: 0.5 } }], shown: '0.5' },
  large: { sent: [{ key: 'plan', value: { doubleValue: 2 ** 60 } }], shown: String(2 ** 60) },
  false: { sent: [{ key: 'plan', value: { boolValue: false } }], shown: 'false' },
  NaN: { sent: [{ key: 'plan', value: { doubleValue: NaN } }], shown: 'NaN' },
  empty: { sent: [{ key: 'plan', value: {} }], shown: null },
  twice: {
    sent: [
      { key: 'plan', value: { stringValue: 'first' } },
      { key: 'plan', value: { stringValue: 'red' } },
    ],
    shown: 'red',
  },
};

const ODD_NAMES = Object.keys(ODD) as (keyof typeof ODD)[];

/** The text of an attribute, by the documentation. */
function shown({ door, attributes, resource, odd }: Span, key: string): string | null {
  const own = Object.hasOwn(attributes, key) ? textOf(attributes[key]) : null;
  if (door === 'batch') return own;
  const isOdd = key === 'plan' && odd !== 'none';
  const sent = isOdd ? ODD[odd].shown : own;
  return sent ?? (Object.hasOwn(resource, key) ? textOf(resource[key]) : null);
}

function lower(text: string): string {
  return Array.from(text, (character) => character.toLowerCase()).join('');
}

function meets(text: string | null, { test, value }: AttributeCondition): boolean {
  if (test === 'contains') return text !== null && lower(text).includes(lower(value));
  return text === value;
}

function matches(spans: readonly Span[], conditions: readonly AttributeCondition[]): boolean {
  const wanted = conditions.filter(({ test }) => test !== 'is_not');
  const hasAll = (span: Span): boolean => wanted.every((one) => meets(shown(span, one.key), one));
  const excluded = conditions.filter(({ test }) => test === 'is_not');
  return (
    (wanted.length === 0 || spans.some(hasAll)) &&
    !spans.some((span) => excluded.some((one) => meets(shown(span, one.key), one)))
  );
}

/** The record of a run whose spans came through both doors. */
function recordOf({ spans, at }: Run): TraceRecord {
  const trace = aHeader({ started_at: NOON + at * 1000 });
  const id = Buffer.from(trace.trace_id.replaceAll('-', ''), 'hex');
  const records = spans.map(({ door, attributes, resource, odd }) => {
    if (door === 'batch')
      return aSpanRecord(trace.trace_id, { metadata: attributes, output_data: { text: 'a walrus' } });
    const model = door === 'otlp model' ? { 'gen_ai.operation.name': 'chat' } : {};
    const span = {
      traceId: id,
      spanId: randomBytes(8),
      name: 'sent',
      startTimeUnixNano: String(NOON * 1000),
      endTimeUnixNano: String(NOON * 1000),
      attributes: [...toKeyValues({ ...model, ...attributes }), ...ODD[odd].sent],
    };
    const request = {
      resourceSpans: [{ resource: { attributes: toKeyValues(resource) }, scopeSpans: [{ spans: [span] }] }],
    };
    const { batch } = spansToTraces(request, { tenant: 'a user', idleTimeoutMs: null });
    const [record] = batch.items[0]?.spans ?? [];
    if (record === undefined) throw new Error('the span is valid');
    return record;
  });
  return { trace, spans: records };
}

/** The ids on all pages of a search. */
async function searched(
  { store }: OpenedTelemetry,
  user: string,
  search: TextSearch,
  { limit = 3, withinMs = LONG } = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: RunCursor | null = null; ;) {
    const page = await store.runs.search(user, search, { after, limit, withinMs });
    ids.push(...page.items.map(({ trace_id }) => trace_id));
    if (page.next === null) return ids;
    after = page.next;
  }
}

function having(...conditions: readonly AttributeCondition[]): TextSearch {
  return { query: '', attributes: { conditions, read: attributeReader() } };
}

function newestFirst(runs: readonly TraceRecord[]): readonly TraceRecord[] {
  return runs.toSorted(
    ({ trace: a }, { trace: b }) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1),
  );
}

function checkAttributes(t: Test, open: OpenTelemetry): void {
  void t.test('finds what a scan of all attributes finds, in hot and moved runs', async (t) => {
    const opened = await open(t, { fileRows: 20 });
    await neverDiffers(
      t,
      { runs: 14, ms: 6000 },
      [
        fc.array(fc.array(aRun, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.array(aCondition, { minLength: 1, maxLength: 2 }), { minLength: 10, maxLength: 16 }),
        fc.boolean(),
        fc.constantFrom(0, LONG),
      ],
      async (commits, searches, isMoved, withinMs) => {
        const user = await opened.addUser();
        const spansOf = new Map<string, readonly Span[]>();
        const all: TraceRecord[] = [];
        for (const commit of commits) {
          const items = commit.map((run) => {
            const record = recordOf(run);
            spansOf.set(record.trace.trace_id, run.spans);
            return record;
          });
          all.push(...items);
          await opened.store.writer.traces({ tenant: user, items }, RECEIVED);
        }
        if (isMoved) await opened.settled();
        for (const conditions of searches) {
          const ids = await searched(opened, user, having(...conditions), { withinMs });
          const expected = newestFirst(all)
            .map(({ trace }) => trace.trace_id)
            .filter((id) => matches(spansOf.get(id) ?? [], conditions));
          same({ conditions, ids }, { conditions, ids: expected });
        }
        for (const key of [null, 'plan', 'nul\0key']) {
          const counts = new Map<string, number>();
          for (const spans of spansOf.values()) {
            const texts = spans.flatMap((span) =>
              key !== null ? [shown(span, key)] : KEYS.filter((each) => shown(span, each) !== null),
            );
            for (const text of new Set(texts)) if (text) counts.set(text, (counts.get(text) ?? 0) + 1);
          }
          const wanted = { key, read: attributeReader(), filter: {}, limit: 100, withinMs: LONG };
          const values = await opened.store.runs.attributeValues(user, wanted);
          const known = values.filter(({ value }) => key !== null || KEYS.some((each) => each === value));
          same(new Map(known.map(({ value, runs }) => [value, runs])), counts);
        }
      },
    );
  });

  void t.test('combines with a query, filters, orders and pages; follows replaced spans', async (t) => {
    const opened = await open(t, { fileRows: 20 });
    const { store } = opened;
    const [user, other] = [await opened.addUser(), await opened.addUser()];
    const runs = Array.from({ length: 30 }, (_, i) => {
      const trace = aHeader({
        started_at: NOON + i * 1000,
        status: i % 2 === 0 ? 'failed' : 'completed',
        duration_ms: (i * 7) % 30,
      });
      const span = aSpanRecord(trace.trace_id, {
        metadata: { tier: i % 3 === 0 ? 'gold' : 'none', step: i },
        output_data: { text: i % 5 === 0 ? 'a walrus' : 'nothing' },
      });
      // A long payload is stored in another way.
      const long = aSpanRecord(trace.trace_id, {
        metadata: { note: `${'x'.repeat(70_000)} end`, size: 'long' },
      });
      return { trace, spans: i === 9 ? [span, long] : [span] };
    });
    await store.writer.traces({ tenant: user, items: runs }, RECEIVED);
    const idsOf = (some: readonly number[]): readonly (string | undefined)[] =>
      some.map((i) => runs[i]?.trace.trace_id);
    const gold = { key: 'tier', test: 'is', value: 'gold' } as const;
    for (const state of ['hot', 'moved']) {
      const ids = async (search: TextSearch, limit?: number) =>
        await searched(opened, user, search, limit === undefined ? {} : { limit });
      t.strictSame(await ids(having(gold)), idsOf([27, 24, 21, 18, 15, 12, 9, 6, 3, 0]), state);
      t.strictSame(await ids({ ...having(gold), query: 'walrus' }), idsOf([15, 0]), state);
      t.strictSame(
        await ids({ ...having({ ...gold, test: 'is_not' }), query: 'walrus -nothing' }, 1),
        idsOf([25, 20, 10, 5]),
        state,
      );
      t.strictSame(
        await ids({ ...having(gold), status: 'failed', oldest_first: true }),
        idsOf([0, 6, 12, 18, 24]),
        state,
      );
      t.strictSame(
        await ids({ ...having(gold), sort: 'duration_ms' }, 4),
        idsOf([12, 24, 6, 18, 0, 27, 9, 21, 3, 15].toSorted((a, b) => ((b * 7) % 30) - ((a * 7) % 30))),
        state,
      );
      t.strictSame(await ids({ ...having(gold), span: { type: 'tool' } }), [], state);
      t.strictSame(await ids(having({ key: 'step', test: 'is', value: '7' })), idsOf([7]), state);
      t.strictSame(await ids(having({ key: 'size', test: 'is', value: 'long' })), idsOf([9]), state);
      t.strictSame(await ids(having({ key: 'note', test: 'contains', value: 'X END' })), idsOf([9]), state);
      t.strictSame(
        await ids(having({ key: 'size', test: 'is', value: 'long' }, gold)),
        [],
        'another span has it',
      );
      t.strictSame(await searched(opened, other, having(gold)), []);
      const page = await store.runs.search(user, having(gold), { after: null, limit: 2, withinMs: LONG });
      t.equal(page.searched_back_to, runs[24]?.trace.started_at);
      t.equal(page.matches.size, 0);
      await opened.settled();
    }
    const odd = ODD_NAMES.map((name, i) => {
      const attributes = { [`has ${name}`]: true };
      return recordOf({
        spans: [{ door: 'otlp model', attributes, resource: { pod: 'a' }, odd: name }],
        at: 100 + i,
      });
    });
    await store.writer.traces({ tenant: user, items: odd }, RECEIVED);
    for (const [i, name] of ODD_NAMES.entries()) {
      const has = { key: `has ${name}`, test: 'is', value: 'true' } as const;
      const { shown: value } = ODD[name];
      const plan = { key: 'plan', test: value === null ? 'is_not' : 'is', value: value ?? '' } as const;
      const pod = { key: 'pod', test: 'contains', value: '' } as const;
      t.strictSame(await searched(opened, user, having(has, plan, pod)), [odd[i]?.trace.trace_id], name);
    }
    const trace = aHeader({ started_at: NOON + 600_000_000 });
    const begun = aSpanRecord(trace.trace_id, { status: 'running', type: 'tool', metadata: null });
    await store.writer.traces({ tenant: user, items: [{ trace, spans: [begun] }] }, RECEIVED);
    t.strictSame(await searched(opened, user, having({ key: 'state', test: 'is', value: 'done' })), []);
    const done = { ...begun, status: 'completed' as const, metadata: { state: 'done' } };
    await store.writer.traces({ tenant: user, items: [{ trace, spans: [done] }] }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      t.strictSame(
        await searched(opened, user, having({ key: 'state', test: 'is', value: 'done' })),
        [trace.trace_id],
        state,
      );
      await opened.settled();
    }
  });
}

await onEveryTelemetry(t, checkAttributes);
