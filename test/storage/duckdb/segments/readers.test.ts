import t from 'tap';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { spansOf } from '../shown-spans.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const READERS = 6;

void t.test('every read sees each run exactly once while segments are sealed and compacted', async (t) => {
  const opened = await TestStore.open(t, {
    segmentSize: { rows: 40, bytes: 1e9 },
    // Many small files at once would leave too little memory for readers, which is not tested here.
    memoryLimit: '512MiB',
  });
  const tenant = await opened.addUser();
  let acknowledged = 0;
  let sent = 0;
  let isWriting = true;
  const write = async (): Promise<void> => {
    for (let i = 0; i < 120; i++) {
      const items = [aTrace(3), aTrace(2), aTrace(0)];
      sent += items.length;
      await opened.store.writer.traces({ tenant, items }, RECEIVED);
      acknowledged += items.length;
    }
  };
  let reads = 0;
  const wrong: string[] = [];
  const read = async (): Promise<void> => {
    while (isWriting) {
      const before = acknowledged;
      const { items, count } = await opened.store.runs.list(tenant, {}, { offset: 0, limit: 1000 });
      const agents = await opened.store.agents.list(tenant);
      const runs = agents.reduce((sum, agent) => sum + agent.total_runs, 0);
      if (count < before || count > sent) wrong.push(`count ${count} of ${before} to ${sent}`);
      if (runs < before || runs > sent) wrong.push(`${runs} runs of agents of ${before} to ${sent}`);
      if (items.length !== count) wrong.push(`${items.length} items of ${count}`);
      if (new Set(items.map((run) => run.trace_id)).size !== items.length) wrong.push('a run came twice');
      reads++;
    }
  };
  const readers = Array.from({ length: READERS }, () => read());
  await Promise.all([write(), write()]);
  isWriting = false;
  await Promise.all(readers);
  t.same(wrong, []);
  t.ok(reads > 0, `${reads} reads`);
});

void t.test('every read sees one version of each run and span while runs complete', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 40, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const traces = Array.from({ length: 60 }, () => aRunning(4));
  for (let i = 0; i < traces.length; i += 10) {
    await opened.store.writer.traces({ tenant, items: traces.slice(i, i + 10) }, RECEIVED);
  }
  await opened.store.settled();
  let isWriting = true;
  const wrong: string[] = [];
  let reads = 0;
  const list = async (): Promise<void> => {
    while (isWriting) {
      const { items, count } = await opened.store.runs.list(tenant, {}, { offset: 0, limit: 1000 });
      const [agent] = await opened.store.agents.list(tenant);
      if (count !== traces.length) wrong.push(`count ${count}`);
      if (items.length !== traces.length) wrong.push(`${items.length} items`);
      if (agent?.total_runs !== traces.length) wrong.push(`${String(agent?.total_runs)} runs of the agent`);
      reads++;
    }
  };
  const look = async (offset: number): Promise<void> => {
    for (let i = offset; isWriting; i++) {
      const trace = traces[i % traces.length];
      if (trace === undefined) return;
      const found = await opened.store.runs.read(tenant, trace.trace.trace_id);
      const spans = found === null ? [] : await spansOf(found);
      if (found === null) wrong.push('a stored trace is not found');
      else if (spans.length !== 4) wrong.push(`${spans.length} spans`);
      if (new Set(spans.map((span) => span.span_id)).size !== spans.length) wrong.push('a span came twice');
      if (spans.some((span) => span.input_data === null)) wrong.push('a payload is missing');
      reads++;
    }
  };
  const readers = [list(), list(), look(0), look(17), look(34)];
  for (const [i, { trace, spans }] of traces.entries()) {
    for (const span of spans) {
      const completed = { ...span, status: 'completed' as const, input_data: null };
      await opened.store.writer.traces({ tenant, items: [{ trace, spans: [completed] }] }, RECEIVED);
    }
    await opened.store.runs.setOutcome(tenant, trace.trace_id, { success: i % 2 === 0 });
  }
  isWriting = false;
  await Promise.all(readers);
  t.same([...new Set(wrong)], []);
  t.ok(reads > 0, `${reads} reads`);
  t.notMatch(opened.settings.logger.lines, /could not be/);
});

void t.test('the pages of a long trace hold each span once while spans complete', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 200, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const { trace, spans } = aRunning(1800);
  await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
  const wrong: string[] = [];
  let isWriting = true;
  const look = async (): Promise<void> => {
    while (isWriting) {
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      const shown = found === null ? [] : await spansOf(found);
      if (new Set(shown.map((span) => span.span_id)).size !== spans.length)
        wrong.push(`${shown.length} spans`);
    }
  };
  const readers = [look(), look()];
  for (let i = 0; i < spans.length; i += 50) {
    const completed = spans.slice(i, i + 50).map((span) => ({ ...span, status: 'completed' as const }));
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: completed }] }, RECEIVED);
  }
  isWriting = false;
  await Promise.all(readers);
  t.same([...new Set(wrong)], []);
});

function aRunning(spans: number): TraceRecord {
  const trace = aHeader({ status: 'running' });
  return {
    trace,
    spans: Array.from({ length: spans }, (_, i) =>
      aSpanRecord(trace.trace_id, { status: 'running', started_at: NOON + i, input_data: { i } }),
    ),
  };
}
