import t from 'tap';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aMetric, aPoint } from '../../../support/metric-points.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { inColdFile, wrongSumsIn } from '../stored-rows.js';
import { listOf } from '../../../support/read-pieces.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

const DAY_MS = 86_400_000;
const AGENTS = ['one', 'two', 'three'] as const;

void t.test('restores agent stats from the cold sums after any changes of the runs', async (t) => {
  const opened = await TestStore.open(t, {
    segmentSize: { rows: 20, bytes: 1e9 },
    traceRetentionDays: null,
  });
  const user = await opened.addUser();
  const write = async (items: TraceRecord[]): Promise<void> => {
    await opened.store.writer.traces({ tenant: user, items }, { receivedAt: NOON });
  };
  const all = async (): Promise<unknown> => ({
    agents: await opened.store.agents.list(user),
    failed: (await opened.store.runs.list(user, { status: 'failed' }, { offset: 0, limit: 1 })).count,
    runs: (await opened.store.runs.list(user, {}, { offset: 0, limit: 500 })).items.map(
      (run) => run.trace_id,
    ),
    compared: await opened.store.agents.compare(
      user,
      (await opened.store.agents.list(user)).map(({ id }) => id),
    ),
  });
  const runs = Array.from({ length: 30 }, (_, i) =>
    aTrace(1, {
      agent: AGENTS[i % 3] ?? '',
      status: i % 4 === 0 ? 'running' : i % 4 === 1 ? 'failed' : 'completed',
      started_at: NOON - (i % 4) * DAY - i,
      duration_ms: i % 5 === 0 ? null : i * 10,
      total_cost_usd: i % 3 === 0 ? null : 999_999_999 + i,
    }),
  );
  for (let i = 0; i < runs.length; i += 10) await write(runs.slice(i, i + 10));
  // Some end in the same segment, some after compaction to the cold file.
  for (const [i, run] of runs.entries()) {
    if (i % 4 !== 0) continue;
    if (i % 8 === 0) await opened.store.settled();
    await write([{ ...run, trace: { ...run.trace, status: 'completed', success: i % 3 === 0 } }]);
  }
  await opened.store.runs.setOutcome(user, runs[1]?.trace.trace_id ?? '', { success: false });
  const before = await all();
  await opened.reopen();
  t.strictSame(await all(), before, 'some in hot segments, some in the cold file');
  await opened.store.settled();
  await opened.reopen({ segmentSize: { rows: 1, bytes: 1e9 } });
  // One more run lets everything be compacted.
  const later = aTrace(1, { agent: 'one', started_at: NOON });
  await write([later]);
  await opened.store.settled();
  const moved = await all();
  await opened.close();
  t.same(await wrongSumsIn(opened.path), []);
  await opened.start();
  t.strictSame(await all(), moved);

  // Only now, because a store with retention removes old data at any time after startup.
  await opened.reopen({ traceRetentionDays: 3 });
  await opened.retained(DAY_MS);
  const left = runs.filter(({ trace }) => trace.started_at >= NOON - 2 * DAY + DAY / 2).length + 1;
  t.equal((await opened.store.runs.list(user, {}, { offset: 0, limit: 1 })).count, left);
  const kept = await all();
  await opened.reopen({ traceRetentionDays: null });
  t.strictSame(await all(), kept, 'after retention');
  await opened.close();
  t.same(await wrongSumsIn(opened.path), []);
  const [row] = await inColdFile(opened.path, 'SELECT sum(runs)::INTEGER AS runs FROM run_sums');
  t.ok(Number(row?.runs) > 0);
});

void t.test('also restores metric point counts', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 30, bytes: 1e9 } });
  const user = await opened.addUser();
  for (let i = 0; i < 20; i++) {
    const stream = aMetric({ name: `metric.${i % 3}` });
    const items = Array.from({ length: 10 }, (_, n) =>
      aPoint({ stream, timestamp: NOON - ((i + n) % 4) * DAY }),
    );
    await opened.store.writer.metrics({ tenant: user, items }, { receivedAt: NOON });
  }
  const before = await opened.store.metrics.list(user);
  t.equal(
    before.reduce((sum, { data_point_count }) => sum + data_point_count, 0),
    200,
  );
  await opened.reopen({ metricRetentionDays: null });
  t.strictSame(await opened.store.metrics.list(user), before);
  await opened.reopen({ metricRetentionDays: 2 });
  await opened.retained(0);
  const left = await opened.store.metrics.list(user);
  t.ok(left.reduce((sum, { data_point_count }) => sum + data_point_count, 0) < 200);
  await opened.reopen({ metricRetentionDays: null });
  t.strictSame(await opened.store.metrics.list(user), left);
  const found = await opened.store.metrics.query(user, 'metric.0', { limit: 100 });
  const points = found === null ? [] : await listOf(found.points);
  t.equal(points.length, left[0]?.data_point_count);
  await opened.close();
  t.same(await wrongSumsIn(opened.path), []);
});
