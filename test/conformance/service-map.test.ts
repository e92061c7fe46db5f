import fc from 'fast-check';
import t, { type Test } from 'tap';
import { deriveBatch } from '../../src/signal/derive-map.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import { hasDifferences, type MapRebuild } from '../../src/storage/contracts/service-map.js';
import { aCall, varied } from '../storage/duckdb/mapped-records.js';
import { playSteps } from '../storage/duckdb/play-steps.js';
import { shownMap } from '../storage/duckdb/shown-map.js';
import { script } from '../storage/duckdb/store-scripts.js';
import { neverDiffers, same } from '../support/property.js';
import { DAY, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const HOUR = 3_600_000_000;
const WINDOWS = [null, NOON, NOON - 40 * DAY - 1];
const EMPTY = { nodes: [], edges: [] };

async function write({ store }: OpenedTelemetry, tenant: string, items: TraceRecord[]): Promise<void> {
  const batch = { tenant, items, service_map: deriveBatch(items) };
  await store.writer.traces(batch, { receivedAt: NOON });
}

async function rebuilt({ store }: OpenedTelemetry, dryRun = false): Promise<MapRebuild> {
  const found = await store.map.rebuild({ dryRun });
  if (found === null) throw new Error('a rebuild is under way');
  return found;
}

function checkMap(t: Test, open: OpenTelemetry): void {
  void t.test('maps nodes and edges of a time range per user', async (t) => {
    const opened = await open(t);
    const [anna, ben] = [await opened.addUser(), await opened.addUser()];
    const early = aCall('billing', NOON - HOUR);
    await write(opened, anna, [early, aCall('billing', NOON), aCall('search', NOON)]);
    await write(opened, ben, [aCall('search', NOON)]);
    for (const state of ['at once', 'opened again']) {
      await opened.caughtUp();
      const all = await shownMap(opened, anna);
      t.match(
        all.nodes.map(({ id }) => id),
        ['billing', 'planner', 'search'],
        state,
      );
      const stats = { error_count: 0, p95_ms: null };
      t.same(all.edges, [
        { source: 'planner', target: 'billing', weight: 2, ...stats },
        { source: 'planner', target: 'search', weight: 1, ...stats },
      ]);
      const since = await shownMap(opened, anna, NOON + HOUR - 1);
      t.match(since.edges, [{ weight: 1 }, { weight: 1 }], 'the whole hour counts');
      t.same(await shownMap(opened, anna, NOON + HOUR), EMPTY);
      t.match((await shownMap(opened, ben)).edges, [{ source: 'planner', target: 'search', weight: 1 }]);
      t.same(await shownMap(opened, await opened.addUser()), EMPTY);
      await opened.settled();
      await opened.reopen();
    }
    await write(opened, anna, [structuredClone(early)]);
    await opened.caughtUp();
    t.match((await shownMap(opened, anna)).edges, [{ weight: 2 }, { weight: 1 }], 'a repeat changes nothing');
  });

  void t.test('a dry run changes nothing, and only one rebuild runs at a time', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    await opened.store.writer.traces({ tenant, items: [aCall('billing', NOON)] }, { receivedAt: NOON });
    t.same(await shownMap(opened, tenant), EMPTY, 'its nodes were not derived');
    const found = await rebuilt(opened, true);
    t.match(found, { dry_run: true, traces: 1, spans: 3, unmapped_traces: 1, corrected: false });
    t.ok(found.examples[0]?.startsWith(`User ${tenant}, `));
    t.same(await shownMap(opened, tenant), EMPTY);
    const both = await Promise.all([
      opened.store.map.rebuild({ dryRun: false }),
      opened.store.map.rebuild({ dryRun: false }),
    ]);
    t.match(both, [{ unmapped_traces: 1, corrected: true }, null]);
    await opened.caughtUp();
    t.match((await shownMap(opened, tenant)).edges, [{ source: 'planner', target: 'billing', weight: 1 }]);
    t.notOk(hasDifferences(await rebuilt(opened, true)));
  });

  void t.test('traces received without a map are in it after a rebuild', async (t) => {
    const opened = await open(t);
    let now = NOON;
    const choice = fc.infiniteStream(fc.nat({ max: 9 }));
    await neverDiffers(t, { runs: 20, ms: 2000 }, [script, choice], async (steps, choices) => {
      const choose = (): number => Number(choices.next().value);
      const [always, sometimes] = [await opened.addUser(), await opened.addUser()];
      await playSteps(opened, steps, {
        look: async () => {
          await rebuilt(opened);
        },
        write: async (changes) => {
          const receivedAt = ++now;
          const writes = changes.flatMap((change) => {
            if (!('items' in change)) return [];
            const items = change.items.map((item) => varied(item, choose));
            const service_map = deriveBatch(items);
            const isMapped = choose() < 5;
            const batches = [
              { tenant: always, items, service_map },
              { tenant: sometimes, items, ...(isMapped ? { service_map } : {}) },
            ];
            return batches.map((batch) => opened.store.writer.traces(batch, { receivedAt }));
          });
          await Promise.all(writes);
        },
      });
      await rebuilt(opened);
      await opened.caughtUp();
      if (hasDifferences(await rebuilt(opened, true))) throw new Error('it differs again');
      for (const since of WINDOWS) {
        same(await shownMap(opened, sometimes, since), await shownMap(opened, always, since));
      }
    });
    t.same(opened.statuses, []);
  });
}

await onEveryTelemetry(t, checkMap);
