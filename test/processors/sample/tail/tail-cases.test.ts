import { readdirSync } from 'node:fs';
import t from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import { sampleProcessor } from '../../../../src/processors/sample/factory.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceHeader, TraceRecord } from '../../../../src/signal/trace.js';
import { processorOf } from '../../../support/processors.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { TailUnderTest } from './tail-under-test.js';

const OTHER = '00000000-0000-4000-8000-0000000000bb';
/** An id with this ending is kept at no percentage, or at every one. */
const idOf = (number: number, isChosen = false): string =>
  `00000000-0000-4000-80${isChosen ? 'ff-ff' : '00-00'}00${String(number).padStart(8, '0')}`;

function part(
  id: string,
  span: Partial<SpanRecord>,
  header: Partial<TraceHeader> = { status: 'running', follows_spans: true },
): TraceRecord {
  return { trace: aHeader({ trace_id: id, ...header }), spans: [aSpanRecord(id, span)] };
}

const child = (id: string, changes: Partial<SpanRecord> = {}): TraceRecord =>
  part(id, { parent_span_id: idOf(99_999), ended_at: NOON + 5, ...changes });
const root = (id: string, changes: Partial<SpanRecord> = {}): TraceRecord =>
  part(id, { span_id: idOf(99_999), ended_at: NOON + 5, ...changes });

const KEEP_FAILED = `keep: ['trace.status == "failed"'], percentage: 0`;

void t.test('decides after the end, from all requests of a run', async (t) => {
  const tail = await TailUnderTest.open(t, `{ wait: 30s, after_end: 2s, ${KEEP_FAILED} }`);
  await tail.send([child(idOf(1)), child(idOf(2))]);
  await tail.pass(20_000);
  await tail.send([child(idOf(1)), root(idOf(1), { status: 'failed' })]);
  await tail.send([root(idOf(2))]);
  await tail.pass(1999);
  await tail.send([child(idOf(1))]);
  t.strictSame(tail.taken, [], 'more may arrive');
  await tail.pass(1);
  t.equal(tail.passedSpans(idOf(1)).length, 4, 'with spans before and after the end');
  t.strictSame(tail.rates(idOf(1)), [1, 1, 1, 1]);
  t.equal(tail.passedSpans(idOf(2)).length, 0);
  t.strictSame(await tail.metrics('sample_decided_runs_total'), {
    'jackdaw_sample_decided_runs_total{processor="sample",pipeline="traces",decision="kept",cause="ended"}': 1,
    'jackdaw_sample_decided_runs_total{processor="sample",pipeline="traces",decision="dropped",cause="ended"}': 1,
  });
  t.strictSame(await tail.metrics('processor_dropped_items_total'), {
    'jackdaw_processor_dropped_items_total{processor="sample",item="traces"}': 2,
  });
});

void t.test('late spans follow the decision, also after a restart', async (t) => {
  const tail = await TailUnderTest.open(
    t,
    `{ wait: 5s, keep: ['trace.status == "failed"'], percentage: 10 }`,
  );
  const [failed, chosen, left] = [idOf(1), idOf(2, true), idOf(3)];
  await tail.send([root(failed, { status: 'failed' }), root(chosen), root(left)]);
  await tail.pass(1000);
  t.strictSame([tail.rates(failed), tail.rates(chosen), tail.rates(left)], [[1], [0.1], []]);
  await tail.restart();
  await tail.send([
    child(failed),
    child(chosen),
    child(left, { status: 'failed' }),
    root(left, { status: 'failed' }),
  ]);
  t.strictSame([tail.rates(failed), tail.rates(chosen), tail.rates(left)], [[1, 1], [0.1, 0.1], []]);
  await tail.pass(60_000);
  t.strictSame(tail.rates(left), [], 'a dropped run is dropped completely');
  t.strictSame(await tail.metrics('sample_late_items_total'), {
    'jackdaw_sample_late_items_total{processor="sample",pipeline="traces",decision="kept"}': 2,
    'jackdaw_sample_late_items_total{processor="sample",pipeline="traces",decision="dropped"}': 2,
  });
});

void t.test('decides a run without an end after the idle time', async (t) => {
  const tail = await TailUnderTest.open(
    t,
    `{ wait: 30s, percentage: 0, keep: ['trace.spans.exists(s, s.type == "tool" && s.status == "failed")'] }`,
  );
  await tail.send([child(idOf(1), { type: 'tool', status: 'failed' }), child(idOf(2))]);
  await tail.pass(29_000);
  await tail.send([child(idOf(1))]);
  await tail.pass(29_999);
  t.equal(tail.taken.length, 0);
  await tail.pass(1);
  t.equal(tail.passedSpans(idOf(1)).length, 2);
  t.equal(tail.taken.length, 2);
});

void t.test('a declared header ends its run', async (t) => {
  const tail = await TailUnderTest.open(
    t,
    `{ wait: 1m, percentage: 0, keep: ['trace.duration_ms > 5000.0'] }`,
  );
  const times = { started_at: NOON, ended_at: NOON + 6_000_000 };
  await tail.send([
    part(idOf(1), {}, { status: 'running', started_at: NOON }),
    part(idOf(2), {}, { status: 'completed', ...times, ended_at: NOON + 4_000_000 }),
  ]);
  await tail.send([part(idOf(1), {}, { status: 'completed', ...times })]);
  await tail.pass(1000);
  t.equal(tail.passedSpans(idOf(1)).length, 2, 'although its duration is not given');
  t.equal(tail.taken.length, 2);
});

void t.test('endless runs stay within the memory limit by deciding the oldest', async (t) => {
  const tail = await TailUnderTest.open(t, `{ wait: 1h, max_memory: 1MiB, ${KEEP_FAILED} }`);
  await tail.send([child(idOf(1), { status: 'failed' })], OTHER);
  const text = 'x'.repeat(1000);
  for (let round = 0; round < 100; round++) {
    const items = Array.from({ length: 20 }, (_, i) =>
      child(idOf(100 + round * 20 + i), { metadata: { text } }),
    );
    t.ok(await tail.send(items));
    const bytes = await tail.gauge('sample_held_bytes');
    if (bytes > 1024 * 1024) t.fail(`${bytes} bytes held`);
  }
  const held = await tail.gauge('sample_held_runs');
  const decided = await tail.gauge('sample_decided_runs_total');
  t.equal(held + decided, 2001, 'none lost');
  t.ok(held < 1000 && held > 100, `${held} held`);
  t.equal((await tail.gauge('processor_dropped_items_total')) + tail.taken.length, decided);
  await tail.send([root(idOf(1), { status: 'failed' })], OTHER);
  await tail.pass(1000);
  t.equal(tail.passedSpans(idOf(1)).length, 2, 'a small user is unaffected by a large one');
});

void t.test('refuses more without loss while downstream refuses', async (t) => {
  let isOpen = false;
  const tail = await TailUnderTest.open(t, '{ wait: 10s, max_memory: 1MiB }', async (items) => {
    if (!isOpen)
      throw new ConsumeError('full', { code: 'quota_exceeded', retryable: true, retryAfterMs: 1e9 });
    return Promise.resolve({ accepted: items.length, refused: [] });
  });
  t.ok(await tail.send([root(idOf(1))]));
  await tail.pass(1000);
  t.notOk(await tail.send([root(idOf(2))]));
  t.match(tail.refusal, { code: 'quota_exceeded', retryAfterMs: 1e9 }, 'with the error from downstream');
  t.ok(await tail.send([root(idOf(3))], OTHER), 'accepts runs of another user');
  isOpen = true;
  await tail.pass(60_000);
  await tail.pass(60_000);
  t.strictSame(tail.taken.map(({ trace }) => trace.trace_id).sort(), [idOf(1), idOf(3)]);
  t.ok(await tail.send([root(idOf(2))]));
});

void t.test('counts permanent downstream refusals', async (t) => {
  const tail = await TailUnderTest.open(t, '{ wait: 10s }', async (items) => {
    if (items.length > 1)
      return Promise.resolve({ accepted: items.length - 1, refused: [{ index: 0, reason: 'bad' }] });
    throw new ConsumeError('never', { code: 'validation_failed', retryable: false });
  });
  await tail.send([root(idOf(1))]);
  await tail.pass(1000);
  await tail.send([root(idOf(2)), root(idOf(3))]);
  await tail.pass(1000);
  t.equal(await tail.gauge('sample_lost_items_total'), 2);
  t.equal(await tail.gauge('sample_held_bytes'), 0);
});

void t.test('a full journal refuses and frees space', async (t) => {
  const tail = await TailUnderTest.open(t, `{ wait: 1h, max_disk_size: 1MiB, ${KEEP_FAILED} }`);
  const text = Array.from({ length: 3000 }, (_, i) => (i * 7919) % 1009).join(',');
  let refused = 0;
  for (let i = 0; i < 300; i++)
    if (!(await tail.send([child(idOf(i), { metadata: { text: `${i}${text}` } })]))) {
      refused++;
      t.match(tail.refusal, { code: 'overloaded', retryable: true });
      await tail.pass(1);
    }
  t.ok(refused > 0 && refused < 150, `${refused} of 300 refused`);
  t.ok((await tail.gauge('sample_disk_bytes')) < 1.2 * 1024 * 1024);
  const lines = await tail.metrics('sample_decided_runs_total');
  t.ok(Object.keys(lines).some((line) => line.includes('cause="disk"')));
});

void t.test('the directory belongs to one process and is empty at the end', async (t) => {
  const directory = `${t.testdir()}/runs`;
  const tail = await TailUnderTest.open(t, `{ wait: 10s }`, undefined, directory);
  await t.rejects(TailUnderTest.open(t, `{ wait: 10s }`, undefined, directory), { name: 'DirectoryTaken' });
  await tail.send([root(idOf(1))]);
  await tail.pass(1000);
  t.equal(tail.taken.length, 1);
  await tail.restart();
  await tail.pass(60_000);
  t.equal(tail.taken.length, 1, 'no repeats after a clean stop');
  t.strictSame(readdirSync(directory), ['sample%40traces']);
});

void t.test('rejects a batch already counted for a quota', async (t) => {
  const tail = await TailUnderTest.open(t, '{ wait: 10s }');
  const batch = { tenant: OTHER, items: [root(idOf(1))], quota: { monthly_items: 1 } };
  await t.rejects(tail.processor.consume(batch, { receivedAt: NOON }), {
    message: /list it before quota and service_map/,
  });
});

void t.test('an unworkable configuration gives the reason', async (t) => {
  for (const [config, message] of [
    [
      '{ wait: 10s, on_error: refuse }',
      /acknowledged before the decision and cannot be refused: set keep or drop/,
    ],
    ['{ wait: 10s, max_memory: 1KiB }', /at least 1MiB/],
  ] as const)
    t.throws(() => processorOf(sampleProcessor, 'traces', config), { message });
});
