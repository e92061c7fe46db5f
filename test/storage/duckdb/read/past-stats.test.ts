import t from 'tap';
import type { Observing } from '../../../../src/storage/contracts/alerts.js';
import { aHeader, aSpanRecord, aTrace, DAY, NOON } from '../../../support/run-records.js';
import { aMetric, aPoint } from '../../../support/metric-points.js';
import { agentOf, AT_NOON, HOUR, receive } from '../observing.js';
import { TestStore } from '../test-store.js';

const MINUTE = HOUR / 60;
const STEP = 20 * MINUTE;
const COUNT = 90;

/** The requests that evaluations would have made, the last one at noon. */
function asked(request: Pick<Observing, 'targets' | 'metrics'>): Observing[] {
  return Array.from({ length: COUNT }, (_, at) => {
    const now = NOON - (COUNT - 1 - at) * STEP;
    const from = Math.floor(now / DAY) * DAY;
    const days = [
      { from, to: from + DAY },
      { from: from - DAY, to: from },
    ];
    return { now, windowStart: now - HOUR, pointsStart: now - 5 * MINUTE, days, ...request };
  });
}

void t.test('past stats match the state at each moment', async (t) => {
  const opened = await TestStore.open(t);
  const { store } = opened;
  const user = await opened.addUser();
  // Exactly at, just before and just after the moments, and in between.
  const times = Array.from({ length: 400 }, (_, i) => NOON - i * 5 * MINUTE + ((i % 7) - 3));
  const runs = times.map((ended_at, i) =>
    aTrace(0, {
      agent: 'researcher',
      status: i % 3 === 0 ? 'failed' : 'completed',
      started_at: ended_at - (i % 11) * MINUTE,
      ended_at,
      duration_ms: i % 13 === 0 ? null : i,
      total_cost_usd: i % 5 === 0 ? null : i * 1000,
    }),
  );
  const calls = times.slice(0, 100).map((ended_at, i) => {
    const started_at = ended_at - MINUTE;
    const trace = aHeader({ agent: 'planner', started_at, ended_at });
    const status = i % 2 === 0 ? ('failed' as const) : ('completed' as const);
    const metadata = { 'peer.service': 'billing' };
    const span = {
      type: 'http' as const,
      metadata,
      status,
      started_at,
      ended_at,
      duration_ms: i,
      cost_usd: i,
    };
    return { trace, spans: [aSpanRecord(trace.trace_id, span)] };
  });
  await receive(opened, user, [...runs, ...calls], NOON + HOUR);
  const points = times.map((timestamp, i) =>
    aPoint({ stream: aMetric({ name: 'queue' }), labels: { host: String(i % 3) }, value: i, timestamp }),
  );
  await store.writer.metrics({ tenant: user, items: points }, { receivedAt: NOON });

  const agent = await agentOf(opened, user, 'researcher');
  const stats = { runs: true, cost: true, activity: true };
  const requests = asked({
    targets: [
      { target: agent, ...stats },
      { target: { userId: user, service: 'billing' }, ...stats },
      { target: { userId: user, service: 'nobody' }, ...stats },
    ],
    metrics: [
      { userId: user, name: 'queue', service: null },
      { userId: user, name: 'nothing', service: null },
    ],
  });
  const past = await store.past.observe(user, requests);
  t.equal(past.length, COUNT);
  let seen = 0;
  for (const [at, request] of requests.entries()) {
    // Runs that had not started yet have no cost.
    const days = request.days.map(({ from, to }) => ({ from, to: Math.min(to, request.now + 1) }));
    const { targets, metrics } = await store.stats.observe({ ...request, days });
    const withoutActivity = (all: typeof targets) => all.map(({ window, costs }) => ({ window, costs }));
    t.strictSame(withoutActivity(past[at]?.targets ?? []), withoutActivity(targets), String(at));
    t.strictSame(past[at]?.metrics, metrics);
    seen += targets[0]?.window?.finished ?? 0;
    // A run that had ended or was running by then.
    const active = runs.flatMap(({ trace: { started_at, ended_at } }) =>
      started_at > request.now ? [] : Math.min(ended_at ?? started_at, request.now),
    );
    t.equal(past[at]?.targets[0]?.activeAt, active.length === 0 ? null : Math.max(...active));
  }
  t.ok(seen > COUNT, 'some stats are not empty');
  t.same(await store.past.observe(user, []), []);
  const stranger = await opened.addUser();
  const foreign = await store.past.observe(stranger, [
    { ...AT_NOON, targets: [{ target: agent, ...stats }] },
  ]);
  t.strictSame(foreign[0]?.targets[0], { window: null, costs: [], activeAt: null }, 'targets of other users');
});
