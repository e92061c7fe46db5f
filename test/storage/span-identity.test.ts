import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import { EventEngine } from '../events/event-engine.js';
import { aHeader, aSpanRecord, aTrace, NOON } from '../support/run-records.js';
import { spansOf } from './shown-spans.js';
import { TestStore } from './test-store.js';
import { queriesDuring } from './watched-statements.js';

void t.test('ids of spans that are stored under other traces cost the commit no look-up', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(null);
  const known = aTrace(20);
  await engine.write(user, [known], NOON);
  const again = Array.from({ length: 3 }, () => {
    const trace = aHeader({ trace_id: randomUUID() });
    return { trace, spans: known.spans.map((span) => ({ ...span, trace_id: trace.trace_id })) };
  });
  const queries = await queriesDuring(engine.parts.database, () => engine.write(user, again, NOON));
  t.same(queries, []);
  for (const { trace } of again) t.match(await engine.shownRun(user, trace.trace_id), { span_count: 20 });
});

void t.test('spans of one id under several traces change apart, wherever they lie', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const span_id = randomUUID();
  const traces = Array.from({ length: 3 }, () => aHeader({ status: 'running' }));
  const write = async (of: readonly number[], status: 'running' | 'completed' | 'failed') => {
    const items = of.map((i) => {
      const trace = traces[i] ?? aHeader();
      return { trace, spans: [aSpanRecord(trace.trace_id, { span_id, status })] };
    });
    await opened.store.writeTraces({ tenant, items }, { receivedAt: NOON });
  };
  const look = async (): Promise<string[]> =>
    Promise.all(
      traces.map(async ({ trace_id }) => {
        const found = await opened.store.readTrace(tenant, trace_id);
        const spans = found === null ? [] : await spansOf(found);
        return spans.map(({ status }) => status).join(' ');
      }),
    );
  await write([0, 1, 2], 'running');
  t.same(await look(), ['running', 'running', 'running']);
  await write([1], 'failed');
  t.same(await look(), ['running', 'failed', 'running']);
  await opened.reopen();
  await opened.store.settled();
  t.same(
    await look(),
    ['running', 'failed', 'running'],
    'the newer version took away its own older one only',
  );
  await write([0, 1], 'completed');
  t.same(await look(), ['completed', 'failed', 'running']);
  await opened.reopen();
  t.same(await look(), ['completed', 'failed', 'running']);
});

void t.test('a span that comes twice in a trace of one batch is there once', async (t) => {
  for (const length of [2, 3, 40]) {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    const { trace, spans } = aTrace(length);
    const items = [{ trace, spans: [...spans, ...spans.slice(0, 1)] }];
    const quota = { monthly_items: 100 };
    const receipt = await opened.store.writeTraces({ tenant, items, quota }, { receivedAt: NOON });
    t.match(receipt, { usage: { used: length } });
    const found = await opened.store.readTrace(tenant, trace.trace_id);
    t.equal(found?.span_count, length);
    t.equal(found && (await spansOf(found)).length, length);
  }
});

void t.test('batches of one commit bring spans of one trace, each with its own payload', async (t) => {
  for (const isKnown of [false, true]) {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    const trace = aHeader({ status: 'running' });
    const spans = Array.from({ length: 40 }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        started_at: NOON + i,
        status: i % 3 === 0 ? 'running' : 'completed',
        input_data: { of: i },
      }),
    );
    const write = async (items: SpanRecord[]) =>
      opened.store.writeTraces({ tenant, items: [{ trace, spans: items }] }, { receivedAt: NOON });
    const parts = [spans.slice(0, 7), spans.slice(7, 8), spans.slice(8, 30), spans.slice(30)];
    if (isKnown) await write(parts.shift() ?? []);
    await Promise.all(parts.map(write));
    const shown = async () => {
      const found = await opened.store.readTrace(tenant, trace.trace_id);
      return found === null ? [] : spansOf(found);
    };
    const inputs = spans.map((_, of) => ({ of }));
    t.same(
      (await shown()).map(({ input_data }) => input_data),
      inputs,
    );
    // The completed ones keep the payload that is read back from where each lies.
    await Promise.all(
      parts.map(async (part) => {
        await write(part.map((span) => ({ ...span, status: 'completed', input_data: null })));
      }),
    );
    for (const isMoved of [false, true]) {
      if (isMoved) {
        await opened.reopen();
        await opened.store.settled();
      }
      const now = await shown();
      t.same(
        now.map(({ input_data }) => input_data),
        inputs,
      );
      const [first = []] = isKnown ? [spans.slice(0, 7)] : [];
      const running = first.filter(({ status }) => status === 'running').length;
      t.equal(now.filter(({ status }) => status === 'running').length, running);
    }
  }
});

void t.test('a span that two batches of one commit bring is there once, the first as it came', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const { trace, spans } = aTrace(20);
  const write = async (items: SpanRecord[]) =>
    opened.store.writeTraces({ tenant, items: [{ trace, spans: items }] }, { receivedAt: NOON });
  // The first holds up the others, so that they come together.
  await Promise.all([write([]), write(spans), write(spans.slice(5)), write(spans.slice(0, 6))]);
  const found = await opened.store.readTrace(tenant, trace.trace_id);
  t.equal(found?.span_count, spans.length);
  t.equal(found && (await spansOf(found)).length, spans.length);
});
