import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { Touched } from '../../src/storage/alert-figures.js';
import { aPoint } from '../support/metric-points.js';
import { aSpanRecord, aTrace, NOON } from '../support/run-records.js';
import { aFollowingRecord } from './following-records.js';
import { TestStore } from './test-store.js';

const RECEIVED = { receivedAt: NOON };
const NOTHING: Touched = { agents: [], spansOf: [], pointsOf: [] };

void t.test(
  'a notice comes once, after the commit, and not again before what it tells of was taken',
  async (t) => {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    const { store } = opened;
    const send = async (agent: string): Promise<void> => {
      await store.writeTraces({ tenant, items: [aTrace(1, { agent })] }, RECEIVED);
    };
    await send('before');
    // What can be read when a notice comes.
    const reads: Promise<number>[] = [];
    const end = store.watchTelemetry(() => {
      reads.push(store.listRuns(tenant, {}, { offset: 0, limit: 1 }).then(({ count }) => count));
    });
    t.same(await store.takeTouched(), NOTHING, 'nothing was kept while nobody watched');
    t.equal(reads.length, 0);
    for (const agent of ['one', 'two', 'one']) await send(agent);
    await nextTurn();
    t.equal(reads.length, 1);
    t.ok((await reads[0]) !== 1, 'the commit can be read');
    t.same(await store.takeTouched(), {
      agents: [await idOf(opened, tenant, 'one'), await idOf(opened, tenant, 'two')],
      spansOf: [tenant],
      pointsOf: [],
    });
    t.same(await store.takeTouched(), NOTHING, 'it is taken once');
    await store.writeMetrics({ tenant, items: [aPoint()] }, RECEIVED);
    await nextTurn();
    t.equal(reads.length, 2);
    // Somebody else begins to watch before it was taken: it must not wait for a notice that came already.
    const told = new Promise<void>((resolve) => {
      t.teardown(store.watchTelemetry(resolve));
    });
    await told;
    t.same(await store.takeTouched(), { agents: [], spansOf: [], pointsOf: [tenant] });
    const noticed = reads.length;
    end();
    await send('after');
    await nextTurn();
    t.equal(reads.length, noticed, 'who has ended it is told no more');
  },
);

void t.test('outcomes touch an agent, and a run that changes its agent touches both', async (t) => {
  const opened = await TestStore.open(t);
  const [tenant, other] = [await opened.addUser(), await opened.addUser()];
  const { store } = opened;
  const declared = aTrace(0, { agent: 'declared' });
  const traceId = randomUUID();
  const hinted = (source: 'service.name' | 'gen_ai.agent.name', name: string): SpanRecord =>
    aSpanRecord(traceId, {
      parent_span_id: randomUUID(),
      agent_hint: { source, name },
      started_at: NOON,
    });
  await store.writeTraces(
    { tenant, items: [declared, aFollowingRecord([hinted('service.name', 'guessed')])] },
    RECEIVED,
  );
  t.same(await store.takeTouched(), NOTHING);
  await store.setOutcome(tenant, declared.trace.trace_id, { success: false });
  await store.writeTraces({ tenant: other, items: [aTrace(0, { agent: 'theirs' })] }, RECEIVED);
  t.same(await store.takeTouched(), {
    agents: [await idOf(opened, tenant, 'declared'), await idOf(opened, other, 'theirs')],
    spansOf: [tenant, other],
    pointsOf: [],
  });
  const root = { ...hinted('gen_ai.agent.name', 'real'), parent_span_id: null };
  await store.writeTraces({ tenant, items: [aFollowingRecord([root])] }, RECEIVED);
  const { agents } = await store.takeTouched();
  t.equal(agents.length, 2);
  t.ok(agents.includes(await idOf(opened, tenant, 'real')));
  // A repeat brings nothing.
  await store.writeTraces({ tenant, items: [declared] }, RECEIVED);
  t.same(await store.takeTouched(), NOTHING);
});

async function idOf({ store }: TestStore, tenant: string, name: string): Promise<string> {
  return (await store.listAgents(tenant)).find((agent) => agent.name === name)?.id ?? '';
}
