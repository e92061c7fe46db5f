import { randomUUID } from 'node:crypto';
import t from 'tap';
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
    const quota = { monthly_events: 100 };
    const receipt = await opened.store.writeTraces({ tenant, items, quota }, { receivedAt: NOON });
    t.match(receipt, { usage: { used: length } });
    const found = await opened.store.readTrace(tenant, trace.trace_id);
    t.equal(found?.span_count, length);
    t.equal(found && (await spansOf(found)).length, length);
  }
});
