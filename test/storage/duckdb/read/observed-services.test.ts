import t from 'tap';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { Target, TargetStats } from '../../../../src/storage/contracts/alerts.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { agentOf, AT_NOON, HOUR, observeOne, receive } from '../observing.js';
import { TestStore } from '../test-store.js';

const MINUTE = HOUR / 60;

/** A run of one agent with one span each, of node `billing` by default. */
function aRun(...spans: (Partial<SpanRecord> & { readonly node?: string })[]): TraceRecord {
  const trace = aHeader({ agent: 'planner' });
  return {
    trace,
    spans: spans.map(({ node = 'billing', ...changes }) =>
      aSpanRecord(trace.trace_id, { type: 'http', metadata: { 'peer.service': node }, ...changes }),
    ),
  };
}

async function observeNode(
  opened: TestStore,
  userId: string,
  service = 'billing',
  request = AT_NOON,
): Promise<TargetStats> {
  return await observeOne(opened, { userId, service }, request);
}

void t.test('counts the spans of a node by status, end, duration, cost and tenant', async (t) => {
  const opened = await TestStore.open(t);
  const [tenant, other] = [await opened.addUser(), await opened.addUser()];
  const { windowStart } = AT_NOON;
  const midnight = NOON - DAY / 2;
  await receive(opened, tenant, [
    aRun(
      { status: 'failed', duration_ms: 10, cost_usd: 3 },
      { status: 'timed_out', duration_ms: 30, cost_usd: 4 },
      { duration_ms: 20, started_at: midnight - 1, ended_at: windowStart + 1, cost_usd: 50 },
      { duration_ms: 1e6, started_at: midnight, ended_at: windowStart, cost_usd: 600 },
      { started_at: NOON, cost_usd: null },
      { status: 'running', cost_usd: 7000 },
      { node: 'search', status: 'failed', cost_usd: 80_000 },
    ),
  ]);
  await receive(opened, other, [aRun({ status: 'failed', duration_ms: 5, cost_usd: 1 })]);
  const expected = {
    window: { finished: 4, failed: 2, timed: 3, p95_ms: 29 },
    costs: [{ cost: 7607e-9, priced: 4 }],
    activeAt: NOON,
  };
  t.match(await observeNode(opened, tenant), expected);
  await opened.store.settled();
  await opened.reopen();
  t.match(await observeNode(opened, tenant), expected, 'in any file');
  t.match(await observeNode(opened, other), { window: { finished: 1, failed: 1 }, costs: [{ cost: 1e-9 }] });
  t.strictSame(await observeNode(opened, tenant, 'nobody'), { window: null, costs: [], activeAt: null });
});

void t.test('a service named like an agent refers to the agent once it exists', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await receive(opened, tenant, [aRun({ node: 'writer', status: 'failed' }, { node: 'writer' })]);
  t.match(await observeNode(opened, tenant, 'writer'), { window: { finished: 2, failed: 1 } });
  await receive(opened, tenant, [{ trace: aHeader({ agent: 'writer', total_cost_usd: 9 }), spans: [] }]);
  const agent = await observeOne(opened, await agentOf(opened, tenant, 'writer'));
  t.match(agent, { window: { finished: 1, failed: 0 }, costs: [{ cost: 9e-9, priced: 1 }] });
  t.strictSame(await observeNode(opened, tenant, 'writer'), agent);
});

void t.test('finds spans after their header was rewritten, in any file', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 4, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const run = aRun({ status: 'failed' }, {}, {});
  await receive(opened, tenant, [run]);
  await opened.store.settled();
  for (const success of [true, false, true]) {
    await opened.store.runs.setOutcome(tenant, run.trace.trace_id, { success });
    await receive(opened, tenant, [aRun({ node: 'search' }, { node: 'search' })]);
  }
  await opened.store.settled();
  t.match(await observeNode(opened, tenant), { window: { finished: 3, failed: 1 } });
  // A change of the run and a completed span: one version replaces another.
  const running = aRun({ status: 'running', started_at: NOON - HOUR });
  await receive(opened, tenant, [running]);
  const [span] = running.spans;
  if (span === undefined) throw new Error('the run has a span');
  await receive(opened, tenant, [{ ...running, spans: [{ ...span, status: 'failed', ended_at: NOON }] }]);
  t.match(await observeNode(opened, tenant), { window: { finished: 4, failed: 2 } });
});

void t.test('a clock ahead does not date a span after its receive time', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const early = NOON - 2 * HOUR;
  await receive(opened, tenant, [aRun({ started_at: NOON, ended_at: NOON + DAY })], early);
  t.match(await observeNode(opened, tenant), { window: { finished: 0 }, activeAt: early });
  await receive(opened, tenant, [aRun({ started_at: NOON + DAY })], NOON - MINUTE);
  t.match(await observeNode(opened, tenant), { window: { finished: 1 }, activeAt: NOON - MINUTE });
});

void t.test('activity increases with each read and never decreases', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const active = async (...services: string[]): Promise<(number | null)[]> => {
    const targets = services.map((service) => ({
      target: { userId: tenant, service } satisfies Target,
      runs: false,
      cost: false,
      activity: true,
    }));
    const observed = await opened.store.stats.observe({ ...AT_NOON, targets });
    return observed.targets.map(({ activeAt }) => activeAt);
  };
  const at = (minutes: number, node = 'billing'): TraceRecord =>
    aRun({ node, started_at: NOON - 2 * HOUR, ended_at: NOON - minutes * MINUTE });
  await receive(opened, tenant, [at(50), at(40, 'search')]);
  t.strictSame(await active('billing'), [NOON - 50 * MINUTE]);
  await receive(opened, tenant, [at(30), at(20, 'search')]);
  await opened.store.settled();
  t.strictSame(await active('billing'), [NOON - 30 * MINUTE]);
  t.strictSame(await active('billing', 'search'), [NOON - 30 * MINUTE, NOON - 20 * MINUTE]);
  await receive(opened, tenant, [at(35), at(10, 'search')]);
  t.strictSame(await active('search', 'billing'), [NOON - 10 * MINUTE, NOON - 30 * MINUTE]);
});
