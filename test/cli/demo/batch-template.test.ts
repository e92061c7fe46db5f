import t from 'tap';
import { BatchTemplate } from '../../../bench/batch-template.js';
import { exactBatches } from '../../../bench/exact-batches.js';
import { FreshIds, NanoTime, TimeText } from '../../../bench/fresh-values.js';
import type { BatchBody } from '../../../src/cli/demo/body.js';
import { brokenRules } from './batch-rules.js';

const UNTIL_MS = Date.UTC(2026, 10, 20, 12);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function batches(count: number, spans = 100): BatchBody[] {
  const all = exactBatches({ seed: 'template', spans, untilMs: UNTIL_MS });
  return Array.from({ length: count }, () => all.next().value);
}

function parse(template: BatchTemplate): BatchBody {
  return JSON.parse(template.bytes.toString()) as BatchBody;
}

function idsOf(batch: BatchBody): string[] {
  return batch.traces.flatMap((run) => [run.trace.trace_id, ...run.spans.map((span) => span.span_id)]);
}

/** The parts that must not change: the tree by position, and everything except ids and times. */
function shape(batch: BatchBody): unknown {
  const positions = new Map(idsOf(batch).map((id, index) => [id, `#${index}`]));
  return JSON.parse(
    JSON.stringify(batch, (key, value: unknown) => {
      if (key === 'started_at' || key === 'ended_at') return undefined;
      return typeof value === 'string' ? (positions.get(value) ?? value) : value;
    }),
  ) as unknown;
}

void t.test('bodies contain exactly the requested spans in whole runs', async (t) => {
  for (const spans of [100, 40]) {
    for (const batch of batches(40, spans)) {
      t.equal(
        batch.traces.reduce((sum, run) => sum + run.spans.length, 0),
        spans,
      );
      t.same(brokenRules(batch), []);
    }
  }
  const all = batches(40);
  t.equal(new Set(all.map((batch) => JSON.stringify(batch))).size, all.length, 'all different');
  const runs = all.reduce((sum, batch) => sum + batch.traces.length, 0);
  t.ok(runs / all.length > 7 && runs / all.length < 15, 'about ten runs in each');
});

void t.test('a refreshed body keeps length, validity and tree and gets new ids', async (t) => {
  const fresh = { ids: new FreshIds(), times: new TimeText(), nanos: new NanoTime(), number: 0 };
  const seen = new Set<string>();
  for (const original of batches(20)) {
    const template = new BatchTemplate(original);
    const length = template.bytes.length;
    for (const id of idsOf(original)) seen.add(id);
    for (let round = 0; round < 3; round += 1) {
      template.refresh({ ...fresh, startMs: () => UNTIL_MS + round });
      const batch = parse(template);
      t.equal(template.bytes.length, length);
      t.same(brokenRules(batch), []);
      t.same(shape(batch), shape(original));
      for (const id of idsOf(batch)) {
        t.match(id, UUID);
        t.notOk(seen.has(id), 'every id is unique');
        seen.add(id);
      }
      t.same(
        template.runs.map((run) => template.traceId(run)),
        batch.traces.map((run) => run.trace.trace_id),
      );
    }
  }
});

void t.test('all times of a run move to the requested start', async (t) => {
  const [original] = batches(1);
  if (original === undefined) throw new Error('no batch');
  const template = new BatchTemplate(original);
  const starts = original.traces.map((_, index) => UNTIL_MS + index * 86_400_001);
  template.refresh({
    ids: new FreshIds(),
    times: new TimeText(),
    nanos: new NanoTime(),
    number: 0,
    startMs: (at) => starts[Math.round(at * starts.length)] ?? 0,
  });
  for (const [index, run] of parse(template).traces.entries()) {
    const before = original.traces[index];
    const shift = (starts[index] ?? 0) - Date.parse(before?.trace.started_at ?? '');
    t.equal(Date.parse(run.trace.started_at), starts[index]);
    t.equal(Date.parse(run.trace.ended_at ?? ''), Date.parse(before?.trace.ended_at ?? '') + shift);
    t.same(
      run.spans.map((span) => [Date.parse(span.started_at), Date.parse(span.ended_at ?? '')]),
      before?.spans.map((span) => [
        Date.parse(span.started_at) + shift,
        Date.parse(span.ended_at ?? '') + shift,
      ]),
    );
    t.equal(template.runs[index]?.durationMs, run.trace.duration_ms);
    t.equal(template.runs[index]?.spans, run.spans.length);
  }
});

void t.test('writes times like Date, across days in both directions', async (t) => {
  const times = new TimeText();
  const buffer = Buffer.alloc(30, '.');
  for (const ms of [
    0,
    1,
    999,
    59_999,
    86_399_999,
    86_400_000,
    UNTIL_MS,
    UNTIL_MS - 1,
    4_102_444_799_999,
    5,
  ]) {
    times.write(buffer, 3, ms);
    t.equal(buffer.toString('latin1'), `...${new Date(ms).toISOString()}...`);
  }
});

void t.test('a hundred thousand fresh ids are unique', async (t) => {
  const ids = new FreshIds();
  const buffer = Buffer.alloc(80, ' ');
  const seen = new Set<string>();
  for (let count = 0; count < 100_000; count += 1) {
    ids.write(buffer, [2, 41]);
    seen.add(buffer.toString('latin1', 2, 38));
  }
  t.equal(seen.size, 100_000);
  t.equal(buffer.toString('latin1', 41, 77), buffer.toString('latin1', 2, 38));
  t.equal(
    buffer.toString('latin1', 0, 2) + buffer.toString('latin1', 38, 41) + buffer.toString('latin1', 77),
    ' '.repeat(8),
  );
});
