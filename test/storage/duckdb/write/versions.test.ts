import t from 'tap';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { spansOf } from '../shown-spans.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };

void t.test('loads the newest versions of the traces of one commit together', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 10_000, bytes: 1e9 } });
  const tenant = await opened.addUser();
  // All in one commit; then every other one gets a newer version.
  const traces = Array.from({ length: 20 }, () => aTrace(1, { status: 'running' }));
  await opened.store.writer.traces({ tenant, items: traces }, RECEIVED);
  const later = traces.filter((_, i) => i % 2 === 0).map(({ trace }) => aLateSpan(trace.trace_id));
  await opened.store.writer.traces({ tenant, items: later }, RECEIVED);
  // The cache is empty: stored traces have to be loaded.
  await opened.reopen();
  const evenLater = traces.map(({ trace }) => aLateSpan(trace.trace_id));
  await opened.store.writer.traces({ tenant, items: evenLater }, RECEIVED);
  for (const [i, { trace }] of traces.entries()) {
    const found = await opened.store.runs.read(tenant, trace.trace_id);
    t.equal(found?.span_count, i % 2 === 0 ? 3 : 2);
    t.equal(found && (await spansOf(found)).length, i % 2 === 0 ? 3 : 2);
  }
  await opened.reopen();
  const { items, count } = await opened.store.runs.list(tenant, {}, { offset: 0, limit: 100 });
  t.equal(count, 20);
  t.equal(
    items.reduce((sum, run) => sum + run.span_count, 0),
    50,
  );
});

function aLateSpan(traceId: string) {
  const { trace } = aTrace(0, { trace_id: traceId, status: 'running' });
  return { trace, spans: [aSpanRecord(traceId)] };
}
