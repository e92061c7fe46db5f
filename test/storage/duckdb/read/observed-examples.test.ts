import t from 'tap';
import type { ExampleQuery, RunCondition, Target } from '../../../../src/storage/contracts/alerts.js';
import type { TraceHeader, TraceRecord } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { agentOf, AT_NOON, HOUR, receive } from '../observing.js';
import { TestStore } from '../test-store.js';

const MINUTE = HOUR / 60;

function query(target: Target, type: RunCondition['type']): ExampleQuery {
  return { target, type, from: AT_NOON.windowStart, to: NOON };
}

function idsOf(items: readonly TraceRecord[]): string[] {
  return items.map(({ trace }) => trace.trace_id);
}

void t.test('lists newest failed, longest and most expensive runs of an agent', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const runs = (changes: (i: number) => Partial<TraceHeader>, count = 23): TraceRecord[] =>
    Array.from({ length: count }, (_, i) => aTrace(1, { started_at: NOON - i * MINUTE, ...changes(i) }));
  const failed = runs((i) => ({ status: i % 2 ? 'failed' : 'timed_out', duration_ms: 1 }));
  const slow = runs((i) => ({ duration_ms: 1000 - i }));
  const dear = runs((i) => ({ total_cost_usd: 1_000_000 - i }), 3);
  const outside = runs(() => ({
    status: 'failed',
    started_at: NOON - 2 * HOUR,
    duration_ms: 1e9,
    total_cost_usd: 1e9,
  }));
  const others = runs(() => ({ agent: 'another', status: 'failed' }), 2);
  await receive(opened, tenant, [...outside, ...failed, ...slow, ...dear, ...others]);
  const agent = await agentOf(opened, tenant, 'researcher');
  const another = await agentOf(opened, tenant, 'another');
  const queries = [
    query(agent, 'failure_rate'),
    query(agent, 'latency_threshold'),
    query(agent, 'cost_threshold'),
    query(agent, 'inactivity'),
    query(another, 'failure_rate'),
    query(another, 'cost_threshold'),
    query({ userId: tenant, agentId: 'nobody' }, 'failure_rate'),
  ];
  const expected = [
    idsOf(failed).slice(0, 20),
    idsOf(slow).slice(0, 20),
    idsOf(dear),
    [],
    idsOf(others),
    [],
    [],
  ];
  t.strictSame(await opened.store.stats.exampleTraces(queries), expected);
  await opened.reopen();
  t.strictSame(await opened.store.stats.exampleTraces(queries), expected);
});

void t.test('lists the traces of the spans of a node once each', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const items = Array.from({ length: 23 }, (_, i): TraceRecord => {
    const trace = aHeader({ agent: 'planner' });
    const spans = [0, 1].map((k) =>
      aSpanRecord(trace.trace_id, {
        type: 'http',
        metadata: { 'peer.service': 'billing' },
        status: 'failed',
        started_at: NOON - i * MINUTE,
        duration_ms: 1000 - i + k,
        cost_usd: i < 3 ? 10 - i : 0,
      }),
    );
    return { trace, spans };
  });
  await receive(opened, tenant, items);
  const target = { userId: tenant, service: 'billing' };
  const first = idsOf(items).slice(0, 20);
  t.strictSame(
    await opened.store.stats.exampleTraces([
      query(target, 'failure_rate'),
      query(target, 'latency_threshold'),
      query(target, 'cost_threshold'),
      query({ ...target, service: 'nobody' }, 'failure_rate'),
    ]),
    [first, first, idsOf(items).slice(0, 3), []],
  );
});
