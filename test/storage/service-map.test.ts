import fc from 'fast-check';
import t from 'tap';
import { deriveBatch } from '../../src/signal/derive-map.js';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import { neverDiffers } from '../support/property.js';
import { DAY, NOON } from '../support/run-records.js';
import { aFollowingRecord } from './following-records.js';
import { oracleMap, type ShownMap } from './map-oracle.js';
import { playSteps } from './play-steps.js';
import { script, type Change } from './store-scripts.js';
import { TestStore } from './test-store.js';

const PEERS = ['billing', 'search.example', 'planner', 'Größe', '🪶'];
const WINDOWS = [null, NOON, NOON - DAY, NOON - 40 * DAY - 1, NOON + 3_600_000_001];

t.setTimeout(0);

void t.test('the map is that of the stored spans, whatever comes in whatever order', async (t) => {
  const opened = await TestStore.open(t);
  let now = NOON;
  const choice = fc.infiniteStream(fc.nat({ max: 9 }));
  await neverDiffers(t, { runs: 40, ms: 20_000 }, [script, choice], async (steps, choices) => {
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
    await playSteps(opened, steps, {
      look: () => compare(opened, tenants),
      write: async (changes) => {
        const receivedAt = ++now;
        await Promise.all(changes.map((change) => apply(change, receivedAt)));
      },
    });
    await compare(opened, tenants);
  });
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
