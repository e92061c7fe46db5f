import { randomUUID } from 'node:crypto';
import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import { ALL_TIME } from '../../../../src/storage/contracts/service-map.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { readAsOne } from '../stored-rows.js';
import { listOf } from '../../../support/read-pieces.js';
import { TestStore } from '../test-store.js';

const COMMITS = 60;
const TRACES = 30;

void t.test('sums are exact at every moment while compacted and merged', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const progress = { sent: 0, acknowledged: 0, reads: 0, isOver: false };
  const reading = (async () => {
    for (; !progress.isOver; progress.reads++) {
      const least = progress.acknowledged;
      const weight = await weightOfEdge(opened, tenant);
      if (weight < least || weight > progress.sent)
        return `${weight} is not between ${least} and ${progress.sent}`;
    }
    return 'exact';
  })();
  // A slow machine reads less often: it writes more commits until enough reads overlap one.
  const isEnough = (commits: number): boolean => commits >= COMMITS && progress.reads >= COMMITS / 2;
  for (let commit = 0; !isEnough(commit); commit++) {
    const items = Array.from({ length: TRACES }, () => {
      const trace_id = randomUUID();
      const spans = [
        aSpanRecord(trace_id, {
          type: 'http',
          name: 'api',
          input_data: null,
          metadata: null,
          parent_span_id: null,
        }),
      ];
      return { trace: aHeader({ trace_id, agent: 'planner', started_at: NOON }), spans };
    });
    progress.sent += TRACES;
    const batch = { tenant, items, service_map: deriveBatch(items), quota: { monthly_items: 0 } };
    await opened.store.writer.traces(batch, { receivedAt: NOON });
    progress.acknowledged += TRACES;
  }
  progress.isOver = true;
  const { sent } = progress;
  t.equal(await reading, 'exact');
  await opened.store.settled();
  t.equal(await weightOfEdge(opened, tenant), sent);
  t.match(await opened.store.usage.read(tenant, NOON), { period: '2026-01', used: sent, limit: null });
  await opened.close();
  const parts = await readAsOne(opened.path, ['usage', 'map_edges'], async (query) => ({
    edges: await query('SELECT count(*) AS rows, sum(spans)::INTEGER AS spans FROM map_edges'),
    // Months, and days in rows below 0.
    usage: await query(
      'SELECT month < 0 AS is_day, sum(events)::INTEGER AS events FROM usage GROUP BY ALL ORDER BY ALL',
    ),
  }));
  t.match(parts, {
    edges: [{ spans: sent }],
    usage: [
      { is_day: false, events: sent },
      { is_day: true, events: sent },
    ],
  });
  t.ok(Number(parts.edges[0]?.rows) < COMMITS / 4, `${String(parts.edges[0]?.rows)} rows for one edge`);
  await opened.start();
  t.equal(await weightOfEdge(opened, tenant), sent);
  t.match(await opened.store.usage.read(tenant, NOON), { used: sent });
});

async function weightOfEdge({ store }: TestStore, tenant: string): Promise<number> {
  const { edges } = await store.map.read(tenant, ALL_TIME);
  const [edge] = await listOf<{ readonly weight: number }>(edges);
  return edge?.weight ?? 0;
}
