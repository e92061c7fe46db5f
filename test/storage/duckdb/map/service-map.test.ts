import fc from 'fast-check';
import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import { hasDifferences } from '../../../../src/storage/service-map.js';
import { neverDiffers } from '../../../support/property.js';
import { DAY, NOON } from '../../../support/run-records.js';
import { oracleMap } from '../map-oracle.js';
import { varied } from '../mapped-records.js';
import { playSteps } from '../play-steps.js';
import { shownMap } from '../shown-map.js';
import { script, type Change } from '../store-scripts.js';
import { TestStore } from '../test-store.js';

const WINDOWS = [null, NOON, NOON - DAY, NOON - 40 * DAY - 1, NOON + 3_600_000_001];

t.setTimeout(0);

void t.test('the map is that of the stored spans, whatever comes in whatever order', async (t) => {
  const opened = await TestStore.open(t, { rebuildSize: { page: 100, part: 50 } });
  let now = NOON;
  const choice = fc.infiniteStream(fc.nat({ max: 9 }));
  await neverDiffers(t, { runs: 40, ms: 4_000 }, [script, choice], async (steps, choices) => {
    const tenants = [await opened.addUser(), await opened.addUser()] as const;
    const apply = async (change: Change, receivedAt: number): Promise<void> => {
      const tenant = tenants[change.tenant];
      if (!('items' in change)) await opened.store.runs.setOutcome(tenant, change.traceId, change.change);
      else {
        const items = change.items.map((item) => varied(item, () => Number(choices.next().value)));
        const batch = { tenant, items, service_map: deriveBatch(items) };
        await opened.store.writer.traces(batch, { receivedAt });
      }
    };
    await playSteps(opened, steps, {
      look: () => compare(opened, tenants),
      write: async (changes) => {
        const receivedAt = ++now;
        await Promise.all(changes.map((change) => apply(change, receivedAt)));
      },
    });
    await compare(opened, tenants);
    const derived = await opened.store.map.rebuild({ dryRun: true });
    if (derived === null || hasDifferences(derived)) throw new Error(JSON.stringify(derived));
  });
  t.same(opened.statuses, []);
});

async function compare(opened: TestStore, tenants: readonly string[]): Promise<void> {
  const found: string[] = [];
  const expected: string[] = [];
  for (const tenant of tenants) {
    for (const since of WINDOWS) found.push(JSON.stringify(await shownMap(opened, tenant, since)));
  }
  const numbers = await Promise.all(tenants.map((tenant) => opened.tenantOf(tenant)));
  await opened.close();
  for (const number of numbers) {
    for (const since of WINDOWS) expected.push(JSON.stringify(await oracleMap(opened.path, number, since)));
  }
  await opened.start();
  found.forEach((map, i) => {
    if (map !== expected[i]) throw new Error(`expected ${String(expected[i])} and got ${map}`);
  });
}
