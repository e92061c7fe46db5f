import t from 'tap';
import { MOST_NANO_USD } from '../../../../src/signal/money.js';
import { MOST_USAGE } from '../../../../src/runs/rules/usage.js';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };

void t.test('a run above the cost limit shows the maximum cost', async (t) => {
  const opened = await TestStore.open(t);
  const { store } = opened;
  const one = await opened.addUser();
  const run = (spans: number) => {
    const { trace } = aTrace(0);
    const dear = () => aSpanRecord(trace.trace_id, { cost_usd: MOST_NANO_USD });
    return { trace, spans: Array.from({ length: spans }, dear) };
  };
  // Nine maximum costs are below the limit, ten are above.
  const [below, above, later] = [run(9), run(10), run(9)];
  await store.writer.traces({ tenant: one, items: [below, above, later] }, RECEIVED);
  for (let i = 0; i < 2; i++) {
    const spans = run(1).spans.map((span) => ({ ...span, trace_id: later.trace.trace_id }));
    await store.writer.traces({ tenant: one, items: [{ trace: later.trace, spans }] }, RECEIVED);
  }
  const costs = (await store.runs.list(one, {}, { offset: 0, limit: 10 })).items.map(
    (item) => item.total_cost_usd,
  );
  t.equal(costs.filter((cost) => cost === MOST_USAGE).length, 2);
});
