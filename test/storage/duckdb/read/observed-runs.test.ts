import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { TraceHeader, TraceRecord } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, aTrace, DAY, NOON } from '../../../support/run-records.js';
import { aFollowingRecord } from '../following-records.js';
import { agentOf, AT_NOON, HOUR, observeOne, receive } from '../observing.js';
import { TestStore } from '../test-store.js';

const MINUTE = HOUR / 60;

function aRun(changes: Partial<TraceHeader>): TraceRecord {
  return aTrace(0, changes);
}

void t.test('the window is exact to the microsecond', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const { windowStart } = AT_NOON;
  const endedAt = (agent: string, ended_at: number): TraceRecord =>
    aRun({ agent, started_at: windowStart - DAY, ended_at });
  await receive(opened, tenant, [
    endedAt('at its start', windowStart),
    endedAt('after its start', windowStart + 1),
    endedAt('at its end', NOON),
    aRun({ agent: 'without an end', started_at: NOON, ended_at: null }),
    aRun({ agent: 'without an end', started_at: windowStart, ended_at: null }),
  ]);
  // Clock ahead: a run that ends after its receive time ends at the receive time.
  await receive(opened, tenant, [aRun({ agent: 'ahead', started_at: NOON + DAY, ended_at: NOON + 2 * DAY })]);
  await receive(opened, tenant, [endedAt('ahead, long ago', NOON)], windowStart);
  await receive(opened, tenant, [endedAt('after its end', NOON + 1)], NOON + 2);
  const finished: Record<string, number | undefined> = {};
  for (const { name } of await opened.store.agents.list(tenant)) {
    const { window } = await observeOne(opened, await agentOf(opened, tenant, name));
    finished[name] = window?.finished;
  }
  t.strictSame(finished, {
    'after its end': 0,
    ahead: 1,
    'at its start': 0,
    'after its start': 1,
    'at its end': 1,
    'without an end': 1,
    'ahead, long ago': 0,
  });
});

void t.test('counts failures, durations and the newest run', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const rescued = aRun({ status: 'failed', success: true });
  const running = aRun({ status: 'running' });
  await receive(opened, tenant, [
    rescued,
    running,
    aRun({ status: 'failed' }),
    aRun({ status: 'timed_out', duration_ms: 30 }),
    aRun({ status: 'completed', success: false, duration_ms: 10 }),
    aRun({ status: 'completed', duration_ms: 20 }),
  ]);
  const agent = await agentOf(opened, tenant, 'researcher');
  const first = await observeOne(opened, agent);
  t.match(first.window, { finished: 5, failed: 3, timed: 3, p95_ms: 29 });
  // An outcome makes a run new evidence without updating its last seen time.
  await opened.store.runs.setOutcome(tenant, rescued.trace.trace_id, { success: false });
  const second = await observeOne(opened, agent, {}, [first.window?.evidence ?? '']);
  t.match(second.window, { finished: 5, failed: 4, timed: 3 });
  t.same(second.window?.isNew, [true]);
  await receive(opened, tenant, [{ ...running, trace: { ...running.trace, status: 'failed' } }]);
  t.match((await observeOne(opened, agent)).window, { finished: 6, failed: 5 });
  await opened.store.settled();
  await opened.reopen();
  t.match((await observeOne(opened, agent)).window, { finished: 6, failed: 5 });
});

void t.test('the percentile matches the other views', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const durations = Array.from({ length: 137 }, (_, i) => ((i * 7919) % 1009) / 7);
  await receive(
    opened,
    tenant,
    durations.map((duration_ms) => aRun({ duration_ms })),
  );
  await receive(opened, tenant, [aRun({ agent: 'another', duration_ms: 1e6 })]);
  const agent = await agentOf(opened, tenant, 'researcher');
  const agentId = 'agentId' in agent ? agent.agentId : '';
  const { window } = await observeOne(opened, agent);
  const compared = await opened.store.agents.compare(tenant, [agentId]);
  const shown = await opened.store.agents.days(tenant, agentId, { from: NOON - DAY, to: NOON });
  t.equal(window?.timed, durations.length);
  t.equal(window?.p95_ms, compared?.[0]?.p95_latency_ms);
  t.equal(window?.p95_ms, shown?.days[0]?.p95_latency_ms);
});

void t.test('costs are exact and assigned to the day a run starts', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const midnight = NOON - DAY / 2;
  const costing = (started_at: number, total_cost_usd: number | null): TraceRecord =>
    aRun({ started_at, total_cost_usd });
  await receive(opened, tenant, [
    costing(midnight - 1, 7),
    costing(midnight, 1_005_000),
    costing(midnight + DAY - 1, 999_999_999_999_999),
    costing(midnight + DAY, 70),
    costing(NOON, null),
    costing(NOON, 1),
    aRun({ started_at: NOON, status: 'running', total_cost_usd: 2 }),
  ]);
  const agent = await agentOf(opened, tenant, 'researcher');
  const days = [0, -1, 1, -2].map((day) => ({
    from: midnight + day * DAY,
    to: midnight + (day + 1) * DAY,
  }));
  const { costs } = await observeOne(opened, agent, { days });
  t.strictSame(costs, [
    { cost: 1_000_000.001005002, priced: 4 },
    { cost: 7e-9, priced: 1 },
    { cost: 70e-9, priced: 1 },
    { cost: 0, priced: 0 },
  ]);
});

void t.test('an agent is active up to the times of its runs, at most until they are received', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const activity = async (name: string): Promise<number | null> =>
    (await observeOne(opened, await agentOf(opened, tenant, name))).activeAt;
  const started_at = NOON - HOUR;
  await receive(opened, tenant, [
    aRun({ agent: 'started', started_at }),
    aRun({ agent: 'ended', started_at, ended_at: NOON - MINUTE }),
    aRun({ agent: 'ended', started_at: NOON - DAY, ended_at: NOON - DAY }),
    aRun({ agent: 'ahead', started_at: NOON + DAY }),
  ]);
  const running = aHeader({ agent: 'running', started_at, status: 'running' });
  const atWork = aSpanRecord(running.trace_id, { started_at, ended_at: NOON - 2 * MINUTE });
  await receive(opened, tenant, [{ trace: running, spans: [atWork] }]);
  // Undeclared and without its root: still running.
  const hint = { source: 'service.name', name: 'followed' } as const;
  const traceId = randomUUID();
  const root = aSpanRecord(traceId, { started_at, ended_at: NOON - 50 * MINUTE, agent_hint: hint });
  const child = aSpanRecord(traceId, {
    parent_span_id: root.span_id,
    started_at,
    ended_at: NOON - 55 * MINUTE,
    agent_hint: hint,
  });
  await receive(opened, tenant, [aFollowingRecord([child])]);
  const expected = {
    started: started_at,
    ended: NOON - MINUTE,
    ahead: NOON,
    running: NOON - 2 * MINUTE,
  };
  const look = async (): Promise<Record<string, number | null>> => {
    const found: Record<string, number | null> = {};
    for (const name of Object.keys(expected)) found[name] = await activity(name);
    return found;
  };
  t.strictSame(await look(), expected);
  await opened.reopen();
  t.strictSame(await look(), expected, 'also when read from the tables');
  await opened.store.settled();
  const later = aSpanRecord(running.trace_id, { started_at: NOON - MINUTE });
  await receive(opened, tenant, [{ trace: running, spans: [later] }]);
  await receive(opened, tenant, [aFollowingRecord([root])]);
  t.equal(await activity('running'), NOON - MINUTE, 'from a span of a running run');
  t.equal(await activity('followed'), NOON - 50 * MINUTE, 'from a run derived from its spans');
  await opened.reopen();
  t.equal(await activity('running'), NOON - MINUTE);
  t.equal(await activity('followed'), NOON - 50 * MINUTE);
});

void t.test('all stats show one state while runs arrive and are compacted', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 40, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const progress = { sent: 0, acknowledged: 0, isOver: false };
  const send = async (): Promise<void> => {
    const items = [1, 2, 3].map(() => aRun({ ended_at: NOON, total_cost_usd: 1 }));
    progress.sent += items.length;
    await receive(opened, tenant, items);
    progress.acknowledged += items.length;
  };
  await send();
  const agent = await agentOf(opened, tenant, 'researcher');
  const wrong: string[] = [];
  const reading = (async () => {
    let looks = 0;
    for (; !progress.isOver; looks++) {
      const least = progress.acknowledged;
      const { window, costs } = await observeOne(opened, agent);
      const finished = window?.finished ?? 0;
      if (finished < least || finished > progress.sent) wrong.push(`${finished} of ${least}`);
      if (costs[0]?.priced !== finished) wrong.push(`${String(costs[0]?.priced)} instead of ${finished}`);
    }
    return looks;
  })();
  for (let i = 0; i < 100; i++) await send();
  progress.isOver = true;
  t.ok((await reading) > 1);
  t.same(wrong, []);
});

void t.test('unknown and unrequested targets have no stats', async (t) => {
  const opened = await TestStore.open(t);
  const [tenant, other] = [await opened.addUser(), await opened.addUser()];
  await receive(opened, tenant, [aRun({ total_cost_usd: 5, duration_ms: 1 })]);
  const agent = await agentOf(opened, tenant, 'researcher');
  const nothing = { window: null, costs: [], activeAt: null };
  t.strictSame(await observeOne(opened, { ...agent, userId: other }), nothing, 'the agent of another user');
  t.strictSame(await observeOne(opened, { ...agent, userId: randomUUID() }), nothing, 'an unknown user');
  t.strictSame(await observeOne(opened, { userId: tenant, agentId: randomUUID() }), nothing);
  t.strictSame(
    await observeOne(opened, { userId: tenant, service: 'researcher' }),
    await observeOne(opened, agent),
  );
  const unwanted = { target: agent, runs: false, cost: false, activity: false };
  const { targets } = await opened.store.stats.observe({
    ...AT_NOON,
    targets: [
      unwanted,
      { ...unwanted, cost: true },
      { ...unwanted, activity: true },
      { ...unwanted, runs: true },
    ],
  });
  t.strictSame(targets.slice(0, 3), [
    nothing,
    { ...nothing, costs: [{ cost: 5e-9, priced: 1 }] },
    { ...nothing, activeAt: NOON },
  ]);
  t.match(targets[3], { window: { finished: 1, p95_ms: 1 }, costs: [], activeAt: null });
});
