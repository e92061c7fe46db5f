import { randomUUID } from 'node:crypto';
import t from 'tap';
import { shortened } from '../../../src/api/support/shortened.js';
import { without } from '../../storage/duckdb/shown-spans.js';
import { startApi } from '../../support/api.js';
import { traceIdOf } from '../../support/header-text.js';
import { anItem, aSpan } from '../../support/trace-batch.js';

interface Summary {
  readonly seq: number;
  readonly spans: readonly Readonly<Record<string, unknown>>[];
}

void t.test('returns spans without payloads, then only changed spans', async (t) => {
  const api = await startApi(t);
  const item = anItem({ spans: 2 });
  const id = traceIdOf(item);
  item.spans.push(
    aSpan(id, { type: 'http', name: 'GET https://shop.example.com/items', input_data: { a: 1 } }),
    aSpan(id, { type: 'agent', name: 'run', input_data: undefined, output_data: undefined }),
  );
  await api.send([item]);
  const path = `/dashboard/traces/${id}`;
  const whole = await api.get<{ spans: Record<string, unknown>[] }>(path);
  const first = await api.get<Summary>(`${path}/spans`);
  t.strictSame(
    first.spans.map((span) => without(span, 'node', 'input_bytes', 'output_bytes', 'preview')),
    whole.spans.map((span) => without(span, 'input_data', 'output_data')),
    'the trace without payloads',
  );
  const agents = await api.get<{ id: string }[]>('/agents');
  const header = without(whole, 'spans');
  t.strictSame(without(first, 'spans'), { ...header, agent_id: agents[0]?.id, seq: first.seq });
  const { seq } = first;
  const of = (name: string) => first.spans.find((span) => span['name'] === name);
  t.match(of('GET https://shop.example.com/items'), {
    node: 'shop.example.com',
    preview: '{"a":1}',
    input_bytes: 7,
  });
  t.match(of('run'), { node: 'researcher', preview: null, input_bytes: null, output_bytes: null });

  t.strictSame((await api.get<Summary>(`${path}/spans?after=${String(seq)}`)).spans, []);
  await api.send([{ ...item, spans: [aSpan(id, { name: 'later' })] }]);
  const summary = await api.get<Summary>(`${path}/spans?after=${String(seq)}`);
  t.match(summary.spans, [{ name: 'later' }]);
  t.equal(summary.spans.length, 1);
  t.equal((await api.call('GET', `/dashboard/traces/${randomUUID()}/spans`)).status, 404);
  t.equal((await api.call('GET', `${path}/spans?after=x`)).status, 422);
});

void t.test('a truncated span is marked as truncated', async (t) => {
  const api = await startApi(t);
  const item = anItem({ spans: 0 });
  const id = traceIdOf(item);
  const input_data = { messages: [{ role: 'user', content: 'x'.repeat(5000) }], n: 1 };
  const span = aSpan(id, { input_data, output_data: { short: true }, metadata: { k: 'v' } });
  item.spans.push(span);
  await api.send([item]);
  const path = `/dashboard/traces/${id}/spans/${span['span_id'] as string}`;
  const whole = await api.get<Record<string, unknown>>(path);
  t.strictSame(whole['input_data'], input_data);
  t.notOk('is_truncated' in whole);
  const all = await api.get<Record<string, unknown>>(`${path}?max_bytes=65536`);
  t.strictSame(all, { ...whole, is_truncated: false });
  const short = await api.get<Record<string, unknown>>(`${path}?max_bytes=2048`);
  t.match(short, { is_truncated: true, output_data: { short: true }, metadata: { k: 'v' } });
  t.match(short['input_data'], { messages: [{ role: 'user', content: /^x{512}…$/ }], n: 1 });
});

void t.test('truncation fits any value into the limit', async (t) => {
  const deep = (levels: number): unknown =>
    levels === 0 ? 'x'.repeat(100) : { a: deep(levels - 1), b: [1] };
  const cases: Record<string, unknown> = {
    'long text': { a: '€'.repeat(100_000) },
    'halves of characters': { a: '😀'.repeat(50_000) },
    'many texts': Array.from({ length: 5000 }, () => 'some text '.repeat(20)),
    'many numbers': Array.from({ length: 100_000 }, (_, i) => i),
    'many keys': Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key ${String(i)}`, i])),
    'long keys': { ['k'.repeat(50_000)]: 1 },
    'long integers': { a: Array.from({ length: 2000 }, () => 12345678901234567890n) },
    deep: Array.from({ length: 500 }, () => deep(60)),
  };
  for (const [name, input_data] of Object.entries(cases)) {
    const { input_data: short, ...rest } = shortened({ name: 'x', input_data }, 4096) as Record<
      string,
      unknown
    >;
    const text = JSON.stringify(short, (_, value: unknown) => (typeof value === 'bigint' ? 1e19 : value));
    t.ok(Buffer.byteLength(text) <= 4200, `${name}: ${String(text.length)}`);
    t.notMatch(text, /\\ud[89ab]/i, 'no lone surrogate');
    t.strictSame(rest, { name: 'x', is_truncated: true }, name);
  }
});
