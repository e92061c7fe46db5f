import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import { ALL_TIME } from '../../../../src/storage/contracts/service-map.js';
import { listOf } from '../../../support/read-pieces.js';
import { aPoint } from '../../../support/metric-points.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const KIB = 1024;
/** Bytes held of a response at a time, plus JSON overhead and one more row. */
const MOST = 4.5 * KIB * KIB;

void t.test('streams points with large texts in bounded chunks', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 12, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const long = 'x'.repeat(300 * KIB);
  // Several points per time: some with the same labels, some equal in all fields.
  const points = Array.from({ length: 60 }, (_, i) => {
    const labels = { long, key: `${Math.floor(i / 4) % 3}` };
    return aPoint({ timestamp: NOON + Math.floor(i / 20), labels, value: i % 4 === 3 ? 2 : i % 4 });
  });
  for (let at = 0; at < points.length; at += 10)
    await opened.store.writer.metrics({ tenant, items: points.slice(at, at + 10) }, RECEIVED);
  const inOrder = [...points].sort(
    (a, b) => b.timestamp - a.timestamp || ((a.labels['key'] ?? '') < (b.labels['key'] ?? '') ? -1 : 1),
  );
  for (const state of ['hot', 'moved']) {
    for (const limit of [60, 43, 1]) {
      const found = await opened.store.metrics.query(tenant, 'cpu.load', { limit, details: true });
      const sizes: number[] = [];
      const pieces = async function* () {
        for await (const piece of found?.points ?? []) {
          sizes.push(piece.length);
          yield piece;
        }
      };
      const shown = await listOf<{ timestamp: string; value: number; labels: { key: string } }>(pieces());
      t.strictSame(
        shown.map(({ timestamp, labels }) => [timestamp, labels.key]),
        inOrder
          .slice(0, limit)
          .map(({ timestamp, labels }) => [
            new Date(timestamp / 1000)
              .toISOString()
              .replace('.000Z', timestamp === NOON ? 'Z' : `.00000${timestamp - NOON}Z`),
            labels['key'],
          ]),
        `${limit} of ${state}`,
      );
      if (limit === 60) {
        // Each exactly once, including indistinguishable points.
        const values = shown.map(({ value }) => value).sort();
        t.strictSame(values, points.map(({ value }) => value ?? 0).sort());
      }
      t.ok(Math.max(...sizes) < MOST, `${Math.max(...sizes)} bytes at a time`);
    }
    await opened.store.settled();
  }
});

void t.test('returns points that differ only in exemplars once each', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const long = 'x'.repeat(150 * KIB);
  const points = Array.from({ length: 90 }, (_, i) =>
    aPoint({
      exemplars: [{ timestamp: NOON, value: i % 45, trace_id: null, span_id: null, attributes: { long } }],
    }),
  );
  // One commit, in which nothing else orders them.
  await opened.store.writer.metrics({ tenant, items: points }, RECEIVED);
  const found = await opened.store.metrics.query(tenant, 'cpu.load', { limit: 90, details: true });
  if (found === null) throw new Error('the metric is not there');
  const shown = await listOf<{ exemplars: { value: number }[] }>(found.points);
  const values = shown.map(({ exemplars }) => exemplars[0]?.value ?? -1).sort((a, b) => a - b);
  t.strictSame(
    values,
    Array.from({ length: 90 }, (_, i) => Math.floor(i / 2)),
  );
});

void t.test('streams runs with large texts in bounded parts', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 10, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const text = '€'.repeat(64 * KIB);
  const headers = Array.from({ length: 40 }, (_, i) =>
    aHeader({
      trace_id: `00000000-0000-0000-0000-0000000000${String(i).padStart(2, '0')}`,
      started_at: NOON + (i % 7),
      outcome: `${i} ${text}`,
      error_message: i % 2 === 0 ? text : null,
    }),
  );
  for (const trace of headers)
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: [] }] }, RECEIVED);
  const expected = [...headers]
    .sort((a, b) => b.started_at - a.started_at || (a.trace_id < b.trace_id ? 1 : -1))
    .map(({ trace_id, outcome, error_message }) => ({ trace_id, outcome, error_message }));
  for (const state of ['hot', 'moved']) {
    for (const filter of [{}, { status: 'completed' as const, start_time: NOON }, { query: '€' }]) {
      const page = { offset: 3, limit: 36 };
      const { items, count, rest } = await opened.store.runs.list(tenant, filter, page);
      const parts = [items];
      // A run changed meanwhile is shown in its new state.
      for await (const part of rest?.pages ?? []) {
        parts.push(part);
        if (parts.length === 2)
          for (const { trace_id, outcome } of expected.slice(-3))
            await opened.store.runs.setOutcome(tenant, trace_id, { success: true, outcome: outcome ?? '' });
      }
      t.equal(count, 40);
      t.equal(items.length + (rest?.runs ?? 0), 36);
      t.ok(parts.length > 2, `${parts.length} parts`);
      t.strictSame(
        parts.flat().map(({ trace_id, outcome, error_message }) => ({ trace_id, outcome, error_message })),
        expected.slice(3, 39),
        state,
      );
      const largest = Math.max(...parts.map((part) => Buffer.byteLength(JSON.stringify(part))));
      t.ok(largest < MOST, `${largest} bytes at a time`);
    }
    await opened.store.settled();
  }
});

void t.test('streams spans with long texts completely in bounded pages', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  // Texts below, at and above the length read first, and texts so long that few fit on a page.
  for (const [spans, length] of [
    [3, 8191],
    [3, 8192],
    [3, 8193],
    [9, 5 * KIB * KIB],
    [40, 512 * KIB],
  ] as const) {
    const trace = aHeader();
    const errors = Array.from({ length: spans }, (_, i) => `${i}${'é'.repeat(length - 1)}`);
    const sent = errors.map((error, i) =>
      aSpanRecord(trace.trace_id, { span_id: uuidOf(i), started_at: NOON + i, error_message: error }),
    );
    // In request-sized batches, because uncompacted data is in memory.
    for (let at = 0; at < spans; at += 20) {
      if (at > 0) await opened.store.settled();
      await opened.store.writer.traces(
        { tenant, items: [{ trace, spans: sent.slice(at, at + 20) }] },
        RECEIVED,
      );
    }
    for (const state of ['hot', 'moved']) {
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      const sizes: number[] = [];
      const pieces = async function* () {
        for await (const piece of found?.spans ?? []) {
          sizes.push(piece.length);
          yield piece;
        }
      };
      const shown = await listOf<{ error_message: string }>(pieces());
      t.ok(
        shown.every(({ error_message: error }, i) => error === errors[i]) && shown.length === spans,
        `${spans} of ${length} characters, ${state}`,
      );
      t.ok(Math.max(...sizes) < 17 * KIB * KIB, `${Math.max(...sizes)} bytes at a time`);
      await opened.store.settled();
    }
  }
});

void t.test('streams a service map with many long names in bounded chunks', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  // Letters, because numbers would be grouped under one name.
  const letters = (i: number): string =>
    String(i)
      .padStart(4, '0')
      .replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));
  const name = (i: number): string => `${letters(i)} ${'é'.repeat(1000)}`;
  const steps = 1500;
  for (let from = 0; from < steps; from += 100) {
    const trace = aHeader();
    const spans = Array.from({ length: 100 }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        span_id: uuidOf(from + i),
        parent_span_id: i === 0 ? null : uuidOf(from + i - 1),
        type: 'custom',
        name: name(from + i),
      }),
    );
    const items = [{ trace, spans }];
    await opened.store.writer.traces({ tenant, items, service_map: deriveBatch(items) }, RECEIVED);
  }
  for (const state of ['hot', 'moved']) {
    const map = await opened.store.map.read(tenant, ALL_TIME);
    for (const [list, most] of [
      ['nodes', steps + 1],
      ['edges', steps],
    ] as const) {
      const sizes: number[] = [];
      const pieces = async function* () {
        for await (const piece of map[list]) {
          sizes.push(piece.length);
          yield piece;
        }
      };
      const items = await listOf<{ id?: string; source?: string; target?: string }>(pieces());
      const keys = items.map(({ id, source = '', target = '' }) => id ?? source + target);
      t.equal(new Set(keys).size, most, `${list}, ${state}`);
      t.strictSame(keys, [...keys].sort());
      t.ok(sizes.length > 1, `${sizes.length} pieces`);
      t.ok(Math.max(...sizes) < MOST, `${Math.max(...sizes)} bytes at a time`);
    }
    await opened.store.settled();
  }
});

function uuidOf(i: number): string {
  return `00000000-0000-0000-0000-00000000${String(i).padStart(4, '0')}`;
}
