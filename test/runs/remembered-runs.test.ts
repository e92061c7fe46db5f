import t from 'tap';
import { RUN_STATUSES } from '../../src/signal/span.js';
import { RememberedRuns } from '../../src/runs/remembered-runs.js';
import { runKey } from '../../src/runs/run-key.js';

const RUNNING = RUN_STATUSES.indexOf('running');
const COMPLETED = RUN_STATUSES.indexOf('completed');

function keyOf(tenant: number, trace: number): string {
  return runKey(tenant, Uint32Array.of(trace, 0, 0, 0), 0);
}

/** The relevant fields of a cached run. */
function aRun(weight: number, status = RUNNING) {
  return { header: { status }, spans: { weight } };
}

void t.test('long runs of one user do not evict runs of others', async (t) => {
  const remembered = new RememberedRuns<ReturnType<typeof aRun>>({ running: 1000, ended: 100 });
  for (let trace = 0; trace < 10; trace++) remembered.put(keyOf(1, trace), aRun(19));
  for (let trace = 0; trace < 100; trace++) remembered.put(keyOf(2, trace), aRun(299));
  const kept = (tenant: number, traces: number): number =>
    Array.from({ length: traces }, (_, trace) => remembered.get(keyOf(tenant, trace))).filter(Boolean).length;
  t.equal(kept(1, 10), 10);
  t.equal(kept(2, 100), 2);
  t.ok(remembered.get(keyOf(2, 99)), 'the most recently changed');
  // A user below its share evicts another user's runs.
  for (let trace = 10; trace < 30; trace++) remembered.put(keyOf(1, trace), aRun(19));
  t.equal(kept(1, 30), 30);
  t.equal(kept(2, 100), 1);
});

void t.test('ended runs move to the smaller cache, except long ones', async (t) => {
  const remembered = new RememberedRuns<ReturnType<typeof aRun>>({ running: 100_000, ended: 50 });
  for (let trace = 0; trace < 10; trace++) remembered.put(keyOf(1, trace), aRun(19));
  for (let trace = 0; trace < 10; trace++) remembered.put(keyOf(1, trace), aRun(19, COMPLETED));
  t.notOk(remembered.get(keyOf(1, 0)));
  t.ok(remembered.get(keyOf(1, 9)));
  remembered.put(keyOf(1, 50), aRun(20_000, COMPLETED));
  t.ok(remembered.get(keyOf(1, 50)));
  remembered.forget(keyOf(1, 50));
  t.notOk(remembered.get(keyOf(1, 50)));
});
