import fc from 'fast-check';
import t from 'tap';
import { deriveBatch } from '../../src/signal/derive-map.js';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import { DAY, NOON } from '../support/run-records.js';
import { aFollowingRecord } from './following-records.js';
import { oracleMap, type ShownMap } from './map-oracle.js';
import { script, type Change } from './store-scripts.js';
import { TestStore } from './test-store.js';

/** `JACKDAW_TEST_SEED=123 JACKDAW_TEST_RUNS=1000` repeats a failure or looks for longer. */
const SEED = process.env.JACKDAW_TEST_SEED;
const TIME_LIMIT = Number(process.env.JACKDAW_TEST_TIME ?? 20_000);
const RUNS = Number(process.env.JACKDAW_TEST_RUNS ?? 40);
const PEERS = ['billing', 'search.example', 'planner', 'Größe', '🪶'];
const WINDOWS = [null, NOON, NOON - DAY, NOON - 40 * DAY - 1, NOON + 3_600_000_001];

t.setTimeout(0);

void t.test('the map is that of the stored spans, whatever comes in whatever order', async (t) => {
  const opened = await TestStore.open(t);
  const end = performance.now() + TIME_LIMIT;
  let runs = 0;
  let now = NOON;
  const property = fc.asyncProperty(script, fc.infiniteStream(fc.nat({ max: 9 })), async (steps, choices) => {
    if (performance.now() > end) return;
    runs++;
    const tenants = [await opened.addUser(), await opened.addUser()] as const;
    const apply = async (change: Change, receivedAt: number): Promise<void> => {
      const tenant = tenants[change.tenant];
      if (!('items' in change)) await opened.store.setOutcome(tenant, change.traceId, change.change);
      else {
        const items = change.items.map((item) => varied(item, () => Number(choices.next().value)));
        const batch = { tenant, items, service_map: deriveBatch(items) };
        await opened.store.writeTraces(batch, { receivedAt });
      }
    };
    for (const step of steps) {
      if (step === 'settle') await opened.store.settled();
      else if (step === 'restart') await opened.reopen();
      else if (step === 'look') await compare(opened, tenants);
      else {
        const receivedAt = ++now;
        await Promise.all(step.map((change) => apply(change, receivedAt)));
      }
    }
    await compare(opened, tenants);
  });
  const found = await fc.check(property, {
    numRuns: RUNS,
    ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  });
  t.notOk(found.failed, 'it never differs');
  t.comment(`${runs} runs, seed ${found.seed}`);
  if (found.failed) t.comment(`${fc.defaultReportMessage(found) ?? ''}\n${String(found.errorInstance)}`);
  t.same(opened.statuses, []);
});

/** Some spans say whom they call, and some runs are declared by nobody. */
function varied(item: TraceRecord, choose: () => number): TraceRecord {
  const spans = item.spans.map((span): SpanRecord => {
    const peer = PEERS[choose()];
    if (span.type === 'agent') {
      return choose() < 5 ? span : { ...span, metadata: { ...span.metadata, 'agent.name': peer ?? '' } };
    }
    return peer === undefined ? span : { ...span, metadata: { ...span.metadata, 'peer.service': peer } };
  });
  if (spans.length === 0 || choose() < 6) return { ...item, spans };
  const hinted = spans.map((span): SpanRecord => ({
    ...span,
    agent_hint: { source: 'service.name', name: PEERS[choose()] ?? 'service' },
  }));
  return aFollowingRecord(hinted);
}

async function compare(opened: TestStore, tenants: readonly string[]): Promise<void> {
  const found: string[] = [];
  const expected: string[] = [];
  for (const tenant of tenants) {
    for (const since of WINDOWS) found.push(JSON.stringify(await shownMap(opened, tenant, since)));
  }
  await opened.close();
  for (const tenant of tenants) {
    for (const since of WINDOWS) expected.push(JSON.stringify(await oracleMap(opened.path, tenant, since)));
  }
  await opened.start();
  found.forEach((map, i) => {
    if (map !== expected[i]) throw new Error(`expected ${String(expected[i])} and got ${map}`);
  });
}

async function shownMap({ store }: TestStore, tenant: string, since: number | null): Promise<ShownMap> {
  const { nodes, edges } = await store.serviceMap(tenant, since);
  const read = (list: Uint8Array): unknown => JSON.parse(`[${Buffer.from(list).toString('utf8')}]`);
  return {
    nodes: (read(nodes) as ShownMap['nodes']).map(({ id, span_type, span_count }) => ({
      id,
      span_type,
      span_count,
    })),
    edges: read(edges) as ShownMap['edges'],
  };
}
