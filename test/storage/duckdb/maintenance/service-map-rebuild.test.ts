import t from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import type { MapRebuild } from '../../../../src/storage/contracts/service-map.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { oracleMap, type ShownMap } from '../map-oracle.js';
import { shownMap } from '../shown-map.js';
import { changeFiles, readAsOne } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

const HOUR = 3_600_000_000;
const SMALL = { page: 100, part: 50 };
const CLEAN = { unmapped_traces: 0, differing_spans: 0, differing_sums: 0, corrected: false, examples: [] };

t.setTimeout(0);

void t.test('a rebuild reports and repairs exactly the differences', async (t) => {
  const opened = await TestStore.open(t, { rebuildSize: SMALL, segmentSize: { rows: 20, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const other = await opened.addUser();
  // Each in its own hour.
  const runs = Array.from({ length: 8 }, (_, i) => aRun(NOON + i * HOUR));
  const [wrongNode, , , unmapped, late] = runs;
  for (const run of runs) {
    const service_map = run === late ? {} : { service_map: deriveBatch([run]) };
    await opened.store.writer.traces({ tenant, items: [run], ...service_map }, { receivedAt: NOON });
  }
  await write(opened, other, [aRun(NOON)]);
  const expected = await shownMap(opened, tenant);
  t.match(await rebuilt(opened, true), { ...CLEAN, unmapped_traces: 1, traces: 9, spans: 27 });
  t.match(await rebuilt(opened), { unmapped_traces: 1, corrected: true, dry_run: false });
  t.match(await rebuilt(opened, true), CLEAN);
  const whole = await shownMap(opened, tenant);
  t.not(JSON.stringify(whole), JSON.stringify(expected), 'it contains the run received without a map');

  await opened.close();
  const [billing, postgres] = await numbersOf(opened, ['billing', 'postgres']);
  await changeFiles(opened.path, [
    `UPDATE spans SET node_no = ${postgres} WHERE span_id = '${wrongNode?.spans[1]?.span_id ?? ''}'`,
    `DELETE FROM map_nodes WHERE node_no = ${postgres} AND hour = ${NOON / HOUR + 1}`,
    `UPDATE map_edges SET spans = spans + 5 WHERE target_no = ${billing} AND hour = ${NOON / HOUR + 2}`,
    `UPDATE traces SET is_mapped = false WHERE trace_id = '${unmapped?.trace.trace_id ?? ''}'`,
  ]);
  await opened.start();
  const found = { unmapped_traces: 1, differing_spans: 1, differing_sums: 11, traces: 9, spans: 27 };
  const dry = await rebuilt(opened, true);
  t.match(dry, { ...found, dry_run: true, corrected: false });
  const at = (run: TraceRecord | undefined): string => `User ${tenant}, trace ${run?.trace.trace_id ?? ''}`;
  const inHour = (i: number): string => `User ${tenant}, hour 2026-01-15T${12 + i}:00:00Z: the`;
  const examples = [...dry.examples].sort();
  t.strictSame(
    examples.filter((example) => !example.startsWith(inHour(3))),
    [
      `${at(unmapped)} was not in the map.`,
      `${at(wrongNode)}, span ${wrongNode?.spans[1]?.span_id ?? ''}: its node is "postgres", and derived "billing".`,
      `${inHour(0)} edge from "planner" to "billing" has 1 span too many.`,
      `${inHour(0)} edge from "planner" to "postgres" has 1 span too few.`,
      `${inHour(0)} node "billing" of type http has 1 span too many.`,
      `${inHour(0)} node "postgres" of type http has 1 span too few.`,
      `${inHour(1)} node "postgres" of type db has 1 span too few.`,
      `${inHour(2)} edge from "planner" to "billing" has 5 spans too many.`,
    ].sort(),
  );
  t.strictSame(
    examples.filter((example) => example.startsWith(inHour(3))),
    [
      `${inHour(3)} edge from "planner" to "billing" has 1 span too many.`,
      `${inHour(3)} edge from "planner" to "postgres" has 1 span too many.`,
      `${inHour(3)} node "billing" of type http has 1 span too many.`,
      `${inHour(3)} node "planner" of type agent has 1 span too many and 1 trace too many.`,
      `${inHour(3)} node "postgres" of type db has 1 span too many.`,
    ],
  );
  t.strictSame(
    { ...(await rebuilt(opened, true)), duration_ms: 0 },
    { ...dry, duration_ms: 0 },
    'a dry run changes nothing',
  );

  t.match(await rebuilt(opened), { ...found, dry_run: false, corrected: true });
  t.match(await rebuilt(opened), CLEAN, 'no differences remain');
  t.strictSame(await shownMap(opened, tenant), whole);
  await opened.store.settled();
  await opened.reopen();
  t.match(await rebuilt(opened, true), CLEAN, 'also after a restart');
  t.strictSame(await shownMap(opened, tenant), whole);
  t.strictSame(await derivedBySql(opened, [tenant]), [whole]);
});

void t.test('restores lost names with new numbers', async (t) => {
  const opened = await TestStore.open(t, { rebuildSize: SMALL });
  const tenant = await opened.addUser();
  const bare = { ...aRun(NOON + HOUR, 'loner'), spans: [] };
  await write(opened, tenant, [aRun(NOON), bare]);
  const whole = await shownMap(opened, tenant);
  await opened.close();
  await changeFiles(opened.path, ['DELETE FROM services']);
  await opened.start();
  const dry = await rebuilt(opened, true);
  t.ok(dry.differing_spans > 0 && dry.differing_sums > 0);
  t.match(await rebuilt(opened), { corrected: true });
  t.match(await rebuilt(opened), CLEAN);
  t.strictSame(await shownMap(opened, tenant), whole);
  await opened.reopen();
  t.strictSame(await shownMap(opened, tenant), whole);
});

void t.test('restores lost sums over several commits', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await write(
    opened,
    tenant,
    Array.from({ length: 1000 }, (_, i) => aRun(NOON + i * HOUR)),
  );
  const whole = await shownMap(opened, tenant);
  await opened.close();
  await changeFiles(opened.path, ['DELETE FROM map_nodes', 'DELETE FROM map_edges']);
  await opened.start();
  t.strictSame(await shownMap(opened, tenant), { nodes: [], edges: [] });
  const found = await rebuilt(opened);
  t.match(found, { unmapped_traces: 0, differing_spans: 0, differing_sums: 5000 });
  t.equal(found.examples.length, 20);
  t.match(await rebuilt(opened), CLEAN);
  t.strictSame(await shownMap(opened, tenant), whole);
});

void t.test('ingestion continues during a rebuild, and only one rebuild runs at a time', async (t) => {
  const opened = await TestStore.open(t, { rebuildSize: SMALL });
  const tenant = await opened.addUser();
  const runs = Array.from({ length: 300 }, (_, i) => aRun(NOON + (i % 7) * HOUR));
  await opened.store.writer.traces({ tenant, items: runs.slice(0, 100) }, { receivedAt: NOON });
  const over = new AbortController();
  const ingestion = (async () => {
    for (const run of runs.slice(100)) {
      // The callers arrive after the callees, in another commit.
      await write(opened, tenant, [{ ...run, spans: run.spans.slice(1) }]);
      await write(opened, tenant, [{ ...run, spans: run.spans.slice(0, 1) }]);
      if (over.signal.aborted) break;
    }
  })();
  t.match(await Promise.all([rebuilt(opened), opened.store.map.rebuild({ dryRun: true })]), [
    { unmapped_traces: 100, differing_spans: 0, differing_sums: 0 },
    null,
  ]);
  for (let i = 0; i < 3; i++) t.match(await rebuilt(opened, i < 2), CLEAN);
  over.abort();
  await ingestion;
  t.match(await rebuilt(opened, true), CLEAN);
  const shown = await shownMap(opened, tenant);
  t.strictSame(await derivedBySql(opened, [tenant]), [shown]);
});

void t.test('retention and rebuilds do not interfere', async (t) => {
  const opened = await TestStore.open(t, { rebuildSize: SMALL, traceRetentionDays: 3 });
  const tenant = await opened.addUser();
  await write(opened, tenant, [aRun(NOON, 'young')]);
  await write(
    opened,
    tenant,
    Array.from({ length: 50 }, (_, i) => aRun(NOON - 2 * DAY + i, `old ${i}`)),
  );
  let { nodes } = await shownMap(opened, tenant);
  t.equal(nodes.length, 53);
  // Retention runs once an hour.
  for (let hours = 0; hours < 100 && nodes.length > 3; hours++) {
    opened.settings.clock.advance(HOUR / 1000);
    t.match(await rebuilt(opened), CLEAN);
    ({ nodes } = await shownMap(opened, tenant));
  }
  t.strictSame(
    nodes.map(({ id }) => id),
    ['billing', 'postgres', 'young'],
  );
});

void t.test('closing the store stops the rebuild, and the store opens again', async (t) => {
  const opened = await TestStore.open(t, { rebuildSize: { page: 1, part: 1 } });
  const tenant = await opened.addUser();
  const runs = Array.from({ length: 60 }, (_, i) => aRun(NOON + i * HOUR));
  await opened.store.writer.traces({ tenant, items: runs }, { receivedAt: NOON });
  const rebuild = opened.store.map.rebuild({ dryRun: false });
  const refused = t.rejects(rebuild, ConsumeError);
  await opened.close();
  await refused;
  await opened.start({ rebuildSize: SMALL });
  await rebuilt(opened);
  t.match(await rebuilt(opened), CLEAN);
  t.equal((await shownMap(opened, tenant)).nodes.find(({ id }) => id === 'billing')?.span_count, 60);
});

/** An agent that calls two services. */
function aRun(startedAt: number, agent = 'planner'): TraceRecord {
  const trace = aHeader({ agent, started_at: startedAt });
  const span = (changes: Partial<SpanRecord>): SpanRecord =>
    aSpanRecord(trace.trace_id, { started_at: startedAt, ...changes });
  const root = span({ type: 'agent', name: 'run' });
  const called = { parent_span_id: root.span_id };
  return {
    trace,
    spans: [
      root,
      span({ ...called, type: 'http', input_data: { url: 'https://Billing:8080/x' } }),
      span({ ...called, type: 'db', metadata: { 'db.system': 'postgres' } }),
    ],
  };
}

async function write({ store }: TestStore, tenant: string, items: TraceRecord[]): Promise<void> {
  await store.writer.traces({ tenant, items, service_map: deriveBatch(items) }, { receivedAt: NOON });
}

async function rebuilt({ store }: TestStore, dryRun = false): Promise<MapRebuild> {
  const rebuild = await store.map.rebuild({ dryRun });
  if (rebuild === null) throw new Error('another rebuild is under way');
  return rebuild;
}

/** The numbers of names of the first user in a closed store. */
async function numbersOf(opened: TestStore, names: readonly string[]): Promise<number[]> {
  return await readAsOne(opened.path, ['services'], async (query) => {
    const rows = await query('SELECT name, min(node_no) AS number FROM services GROUP BY name');
    return names.map((name) => Number(rows.find((row) => row.name === name)?.number));
  });
}

/** The maps of users computed by {@link oracleMap}. */
async function derivedBySql(opened: TestStore, tenants: readonly string[]): Promise<ShownMap[]> {
  const numbers = await Promise.all(tenants.map((tenant) => opened.tenantOf(tenant)));
  await opened.close();
  const maps: ShownMap[] = [];
  for (const number of numbers) maps.push(await oracleMap(opened.path, number, null));
  await opened.start();
  return maps;
}
