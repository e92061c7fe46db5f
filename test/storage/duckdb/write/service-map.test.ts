import fc from 'fast-check';
import t from 'tap';
import { itemAt } from '../../../../src/signal/checked.js';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { ALL_TIME, hasDifferences } from '../../../../src/storage/contracts/service-map.js';
import { neverDiffers } from '../../../support/property.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { oracleMap, sameMap, type ShownMap } from '../map-oracle.js';
import { varied } from '../mapped-records.js';
import { playSteps } from '../play-steps.js';
import { shownMap } from '../shown-map.js';
import { script, type Change } from '../store-scripts.js';
import { downgrade } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const HOUR = 3_600_000_000;
const WINDOWS = [null, NOON, NOON - DAY, NOON - 40 * DAY - 1, NOON + 3_600_000_001];

t.setTimeout(0);

void t.test('the map matches the stored spans in any order', async (t) => {
  const opened = await TestStore.open(t, { rebuildSize: { page: 100, part: 50 } });
  let now = NOON;
  const choice = fc.infiniteStream(fc.nat({ max: 9 }));
  await neverDiffers(t, { runs: 40, ms: 2000 }, [script, choice], async (steps, choices) => {
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
  const found: ShownMap[] = [];
  for (const tenant of tenants) {
    for (const since of WINDOWS) found.push(await shownMap(opened, tenant, since));
  }
  const numbers = await Promise.all(tenants.map((tenant) => opened.tenantOf(tenant)));
  await opened.close();
  for (const number of numbers) {
    for (const since of WINDOWS)
      sameMap(itemAt(found.splice(0, 1), 0), await oracleMap(opened.path, number, since));
  }
  await opened.start();
}

void t.test('a schema 5 store shows null errors and percentiles until a rebuild', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const old = aCall(NOON, 'old');
  await write(opened, tenant, [old]);
  await opened.close();
  await downgrade(opened.path, 5);
  await opened.start();
  // Runs in the same hour and the next one, and a span that completes the old one.
  const next = aCall(NOON + HOUR, 'new');
  await write(opened, tenant, [aCall(NOON, 'old'), next]);
  await write(opened, tenant, [withEnd(old)]);
  const known = { error_count: 1, p95_ms: 907.581 };
  const unknown = { error_count: null, p95_ms: null };
  const hours = async (): Promise<unknown[]> =>
    (await opened.store.map.hours(tenant, ALL_TIME)).map(({ spans, errors }) => [spans, errors]);
  const edges = async (since: number | null): Promise<unknown> =>
    (await shownMap(opened, tenant, since)).edges;
  for (const state of ['at once', 'after a move']) {
    t.match(await edges(null), [{ source: 'new' }, { source: 'old', weight: 2, ...unknown }], state);
    t.match(await edges(NOON + HOUR), [{ source: 'new', weight: 1, error_count: 1 }]);
    t.same(await hours(), [
      [4, null],
      [2, 1],
    ]);
    await opened.store.settled();
    await opened.reopen();
  }
  const found = await opened.store.map.rebuild({ dryRun: false });
  t.match(found, { differing_spans: 0, unmapped_traces: 0, corrected: true });
  t.match(await opened.store.map.rebuild({ dryRun: true }), { differing_sums: 0 });
  t.match(await edges(null), [
    { source: 'new', error_count: 1 },
    { source: 'old', weight: 2, error_count: 2 },
  ]);
  t.same(await hours(), [
    [4, 2],
    [2, 1],
  ]);
  t.match((await shownMap(opened, tenant, NOON + HOUR)).edges[0]?.p95_ms, known.p95_ms);
});

/** An agent that calls a service, which fails after 0.9 s. */
function aCall(started_at: number, agent: string): TraceRecord {
  const trace = aHeader({ agent, started_at });
  const root = aSpanRecord(trace.trace_id, { type: 'agent', started_at });
  const call = aSpanRecord(trace.trace_id, {
    ...{ type: 'http', status: 'failed', started_at, ended_at: started_at + 900_000 },
    parent_span_id: root.span_id,
    metadata: { 'peer.service': 'billing' },
  });
  return { trace, spans: [root, call] };
}

function withEnd({ trace, spans }: TraceRecord): TraceRecord {
  return {
    trace,
    spans: spans.map((span) =>
      span.type === 'agent' ? { ...span, status: 'completed', ended_at: span.started_at + 2_000_000 } : span,
    ),
  };
}

async function write({ store }: TestStore, tenant: string, items: TraceRecord[]): Promise<void> {
  await store.writer.traces({ tenant, items, service_map: deriveBatch(items) }, { receivedAt: NOON });
}
