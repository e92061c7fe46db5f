import t, { type Test } from 'tap';
import { moneyToNumber, parseMoney } from '../../../src/signal/money.js';
import { formatTime, parseTime } from '../../../src/signal/time.js';
import { startTestDaemon } from '../../support/daemon.js';
import { byDepth } from '../../support/trace-order.js';
import { recordedBatches, type Item } from '../../support/trace-batch.js';
import { TracesClient, type Shown, type ShownTrace } from '../../support/traces-client.js';

const recorded = recordedBatches();
const skip = recorded.size === 0 && 'the folder of recorded runs is not here';

const SPAN_FIELDS = [
  'span_id',
  'trace_id',
  'parent_span_id',
  'type',
  'name',
  'status',
  'started_at',
  'ended_at',
  'duration_ms',
  'model',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cost_usd',
  'error_message',
  'input_data',
  'output_data',
] as const;

/** A time in API format. */
const shownTime = (sent: unknown): unknown =>
  typeof sent === 'string' ? formatTime(parseTime(sent) ?? NaN) : null;

/** The expected value of a sent field; undefined if it was not sent and may be derived. */
function expected(field: string, sent: unknown): unknown {
  if (sent === undefined || sent === null) return field === 'status' ? 'completed' : undefined;
  if (field === 'started_at' || field === 'ended_at') return shownTime(sent);
  if (field === 'cost_usd' || field === 'total_cost_usd')
    return moneyToNumber(parseMoney(sent as string) ?? NaN);
  if (field.endsWith('_id')) return (sent as string).toLowerCase();
  if (field === 'name' || field === 'agent') return (sent as string).trim();
  return sent;
}

void t.test('recorded runs of real agents round-trip, and repeats change nothing', { skip }, async (t) => {
  const { url, key } = await startTestDaemon(t);
  const client = new TracesClient(url, key);
  const readAll = async () => {
    const traces = [...recorded.values()].flatMap((batch) => batch.traces);
    return {
      traces: await Promise.all(traces.map(({ trace }) => client.readTrace(trace['trace_id'] as string))),
      agents: await client.read('/api/v1/agents'),
      runs: await client.read('/api/v1/dashboard/traces?page_size=100'),
    };
  };

  for (const [name, { traces }] of recorded)
    t.strictSame(await client.sendTraces(traces), { accepted: traces.length, rejected: 0, errors: [] }, name);
  const first = await readAll();
  for (const [name, { traces }] of recorded)
    for (const item of traces) {
      const shown = first.traces.find((trace) => trace?.['trace_id'] === item.trace['trace_id']);
      t.ok(shown, name);
      if (shown) checkTrace(t, item, shown);
    }

  for (const [name, { traces }] of recorded)
    t.strictSame(await client.sendTraces(traces), { accepted: traces.length, rejected: 0, errors: [] }, name);
  t.strictSame(await readAll(), first, 'nothing changed');
});

function checkTrace(t: Test, item: Item, shown: ShownTrace): void {
  for (const [field, sent] of Object.entries(item.trace)) {
    if (field === 'sdk_version') continue;
    const value = expected(field, sent);
    if (value !== undefined) t.strictSame(shown[field === 'agent' ? 'agent_name' : field], value, field);
  }
  const { spans } = shown;
  t.equal(spans.length, item.spans.length);
  t.ok(areSorted(spans), 'sorted by start, depth and id');
  const byId = new Map(spans.map((span) => [span['span_id'], span]));
  for (const sent of item.spans) {
    const found = byId.get((sent['span_id'] as string).toLowerCase()) ?? {};
    t.strictSame(Object.keys(found).sort(), [...SPAN_FIELDS].sort());
    for (const field of SPAN_FIELDS) {
      const value = expected(field, sent[field]);
      if (value !== undefined) t.strictSame(found[field], value, `${sent['span_id'] as string} ${field}`);
    }
  }
}

function areSorted(spans: readonly Shown[]): boolean {
  const placed = spans.map((span) => ({
    span_id: span['span_id'] as string,
    parent_span_id: span['parent_span_id'] as string | null,
    start: parseTime(span['started_at'] as string) ?? NaN,
  }));
  const order = byDepth(placed);
  return placed.every((span, i) => {
    const before = placed[i - 1];
    return before === undefined || (before.start - span.start || order(before, span)) < 0;
  });
}
