import t from 'tap';
import { MOST_NANO_USD } from '../../../../src/signal/money.js';
import { MOST_USAGE } from '../../../../src/runs/rules/usage.js';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { until } from '../../../support/until.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };

void t.test('a run that cost more than is kept of one is counted once, and the log says so', async (t) => {
  const opened = await TestStore.open(t);
  const { store, settings } = opened;
  const [one, other] = [await opened.addUser(), await opened.addUser()];
  const run = (spans: number) => {
    const { trace } = aTrace(0);
    const dear = () => aSpanRecord(trace.trace_id, { cost_usd: MOST_NANO_USD });
    return { trace, spans: Array.from({ length: spans }, dear) };
  };
  // Nine of the most expensive are less than the bound, ten are more.
  const [below, above, later] = [run(9), run(10), run(9)];
  await store.writer.traces({ tenant: one, items: [below, above, later] }, RECEIVED);
  for (let i = 0; i < 2; i++) {
    const spans = run(1).spans.map((span) => ({ ...span, trace_id: later.trace.trace_id }));
    await store.writer.traces({ tenant: one, items: [{ trace: later.trace, spans }] }, RECEIVED);
  }
  await store.writer.traces({ tenant: other, items: [run(11)] }, RECEIVED);
  const costs = (await store.runs.list(one, {}, { offset: 0, limit: 10 })).items.map(
    (item) => item.total_cost_usd,
  );
  t.equal(costs.filter((cost) => cost === MOST_USAGE).length, 2);
  t.equal(
    settings.logger.lines.filter((line) => line.includes('9007199.254740991')).length,
    2,
    'once a user',
  );
  await until('the metric shows it', async () => {
    settings.clock.advance(5000);
    return /^jackdaw_store_capped_runs_total(\{[^}]*\})? 3$/m.test((await settings.meter.print()).text);
  });
});
