import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Touched } from '../../src/storage/alert-store.js';
import { aTrace, NOON } from '../support/run-records.js';
import { aPoint } from '../support/metric-points.js';
import { TestStore } from './test-store.js';

const RECEIVED = { receivedAt: NOON };
const NOTHING: Touched = { agents: [], spansOf: [], pointsOf: [] };

async function openStore(
  t: Test,
): Promise<{ opened: TestStore; tenant: string; notices: { count: number } }> {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const notices = { count: 0 };
  return { opened, tenant, notices };
}

async function agentId({ store }: TestStore, tenant: string, name: string): Promise<string> {
  return (await store.listAgents(tenant)).find((agent) => agent.name === name)?.id ?? '';
}

void t.test('a notice comes once, after the commit, and not before what it tells of was taken', async (t) => {
  const { opened, tenant, notices } = await openStore(t);
  const { store } = opened;
  await store.writeTraces({ tenant, items: [aTrace(1, { agent: 'before' })] }, RECEIVED);
  const end = store.watchTelemetry(() => {
    notices.count++;
  });
  t.same(await store.takeTouched(), NOTHING, 'nothing was kept while nobody watched');
  t.equal(notices.count, 0);
  const runsSeen: Promise<number>[] = [];
  const endOther = store.watchTelemetry(() => {
    runsSeen.push(store.listRuns(tenant, {}, { offset: 0, limit: 1 }).then(({ count }) => count));
  });
  for (const agent of ['one', 'two', 'one']) {
    await store.writeTraces({ tenant, items: [aTrace(1, { agent })] }, RECEIVED);
  }
  await nextTurn();
  t.equal(notices.count, 1);
  t.same(await Promise.all(runsSeen), [2], 'when it comes the commit can be read');
  const [one, two] = [await agentId(opened, tenant, 'one'), await agentId(opened, tenant, 'two')];
  t.same(await store.takeTouched(), { agents: [one, two], spansOf: [tenant], pointsOf: [] });
  t.same(await store.takeTouched(), NOTHING);
  await store.writeMetrics({ tenant, items: [aPoint({ value: 1 })] }, RECEIVED);
  t.equal(notices.count, 2);
  t.same(await store.takeTouched(), { agents: [], spansOf: [], pointsOf: [tenant] });
  end();
  endOther();
});
