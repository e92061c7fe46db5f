import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import { FAILED } from '../../../src/runs/rules/rows.js';
import { itemAt } from '../../../src/signal/checked.js';
import { deriveBatch } from '../../../src/signal/derive-map.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { Connection } from '../../../src/storage/clickhouse/client/connection.js';
import { AgentNames } from '../../../src/storage/clickhouse/names/agent-names.js';
import { insertsBy } from '../../../src/storage/clickhouse/runs/insert-rows.js';
import { NodeNumbers } from '../../../src/storage/clickhouse/runs/node-names.js';
import { RunQueue } from '../../../src/storage/clickhouse/runs/run-queue.js';
import { finishLeftWrites } from '../../../src/storage/clickhouse/runs/run-upkeep.js';
import { emitApplied } from '../../../src/storage/clickhouse/runs/applied-events.js';
import { deriveRun } from '../../../src/storage/clickhouse/runs/derive-run.js';
import { readFacts } from '../../../src/storage/clickhouse/runs/stored-facts.js';
import { TracesWriter } from '../../../src/storage/clickhouse/runs/traces-writer.js';
import { RunWrites } from '../../../src/storage/clickhouse/runs/write-runs.js';
import { MIGRATIONS } from '../../../src/storage/clickhouse/tables/migrations.js';
import { RUN_COLUMNS } from '../../../src/storage/clickhouse/tables/run-tables.js';
import { CallOrder } from '../../../src/storage/shared/call-order.js';
import { monthOf } from '../../../src/storage/contracts/telemetry-writer.js';
import type { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import { runRows } from '../../../src/storage/clickhouse/runs/run-rows.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { controlStoreAt } from '../../support/control-store.js';
import { HandClock } from '../../support/hand-clock.js';
import { neverDiffers, same } from '../../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../../support/run-records.js';
import { testFolder } from '../../support/test-folder.js';
import { aUser } from '../duckdb/meta-records.js';
import { clickHouseOptions } from './clickhouse-place.js';

const STORE = 'store';
const LEASE_MS = 30_000;
const GATEWAYS = 3;
const QUOTA = { monthly_items: 0 };

/** Outcome of a step: success, failure before execution, or a lost response. */
type Fault = 'none' | 'undone' | 'unheard';

/** Faults for the steps of one gateway, in order; no faults when exhausted. */
class Faults {
  #left: Fault[] = [];

  set(faults: readonly Fault[]): void {
    this.#left = [...faults];
  }

  async around<Result>(work: () => Promise<Result>): Promise<Result> {
    const fault = this.#left.shift() ?? 'none';
    if (fault === 'undone') throw gone();
    const result = await work();
    if (fault === 'unheard') throw gone();
    return result;
  }
}

function gone(): ConsumeError {
  return new ConsumeError('the connection is gone', { code: 'storage_unavailable', retryable: true });
}

interface Gateway {
  readonly faults: Faults;
  readonly writer: TracesWriter;
  readonly finishLeft: () => Promise<number>;
}

interface Scene {
  readonly control: SqlControlStore;
  readonly clock: HandClock;
  readonly connection: Connection;
  readonly gateways: readonly Gateway[];
  readonly addUser: () => Promise<{ readonly id: string; readonly tenant: number }>;
}

async function scene(t: Test, server: ClickHouseServer): Promise<Scene> {
  const options = clickHouseOptions(server);
  const place = { now: () => Date.now() };
  const bare = await Connection.open(options, { ...place, database: null });
  t.teardown(() => bare.close());
  await bare.command(`CREATE DATABASE ${options.database}`);
  for (const { statements } of MIGRATIONS)
    for (const statement of statements(options)) await bare.command(statement);
  const connection = await Connection.open(options, { ...place, database: options.database });
  t.teardown(() => connection.close());
  const clock = new HandClock();
  const control = await controlStoreAt(join(testFolder(t), 'control.db'), clock);
  t.teardown(() => control.close());
  const users = new Map<string, number>();
  await control.events.want('test', ['*'], Number.MAX_SAFE_INTEGER);
  const wantedOf = async (tenant: number) => {
    const userId = [...users].find(([, number]) => number === tenant)?.[0];
    return userId === undefined
      ? null
      : { userId, wanted: ['trace.completed', 'trace.failed', 'agent.created'] as const };
  };
  const gateways = Array.from({ length: GATEWAYS }, (_, i): Gateway => {
    const faults = new Faults();
    const names = new AgentNames(control.agents, STORE, clock);
    const inserts = insertsBy(connection);
    const parts = {
      reads: connection,
      inserts: {
        insert: (...args: Parameters<typeof inserts.insert>) => faults.around(() => inserts.insert(...args)),
      },
      book: control.writes,
      agents: names,
      store: STORE,
      owner: `gateway ${String(i)}`,
      leaseMs: LEASE_MS,
      mostAgents: 100,
      onApplied: (applied: Parameters<typeof emitApplied>[0]) =>
        faults.around(() => emitApplied(applied, control.events, wantedOf)),
    };
    const writes = new RunWrites(parts);
    const queue = new RunQueue(writes, connection, { rows: 30, underWay: 2, waitingBytes: 1e9 });
    return {
      faults,
      writer: new TracesWriter({
        scores: async () => undefined,
        queue,
        order: new CallOrder(),
        stored: { refuseExceeded: () => undefined, add: () => undefined },
        limitsOf: (id) => ({ tenant: users.get(id) ?? 0, monthlyLimit: null, storedLimit: null, wanted: [] }),
        promptNumbers: async (_, references) => references.map(() => null),
        arriving: () => undefined,
      }),
      finishLeft: () =>
        finishLeftWrites({ ...parts, leases: control.leases, queue, writes, ended: async () => undefined }),
    };
  });
  return {
    control,
    clock,
    connection,
    gateways,
    addUser: async () => {
      const user = aUser();
      const tenant = await control.accounts.createUser(user);
      users.set(user.id, tenant);
      return { id: user.id, tenant };
    },
  };
}

const span = fc.record({
  trace: fc.nat(3),
  span: fc.nat(5),
  status: fc.constantFrom('running' as const, 'completed' as const, 'failed' as const),
  minutes: fc.integer({ min: 0, max: 180 }),
  tokens: fc.option(fc.nat(9)),
  isRoot: fc.boolean(),
});
const request = fc.record({
  gateway: fc.nat(GATEWAYS - 1),
  spans: fc.array(span, { maxLength: 6 }),
  /** Traces whose header is sent without spans. */
  headers: fc.array(fc.nat(3), { maxLength: 1 }),
  isSentTwice: fc.boolean(),
});
const round = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 6 }),
  faults: fc.array(
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: fc.constant('none' as const) },
        fc.constantFrom('undone' as const, 'unheard' as const),
      ),
      { maxLength: 8 },
    ),
    { minLength: GATEWAYS, maxLength: GATEWAYS },
  ),
});

/** The ids of one scenario. */
class Ids {
  readonly traces = Array.from({ length: 4 }, () => randomUUID());
  readonly #spans = new Map<string, string>();

  span(trace: number, span: number): string {
    const key = `${String(trace)} ${String(span)}`;
    const id = this.#spans.get(key) ?? randomUUID();
    this.#spans.set(key, id);
    return id;
  }
}

type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

function itemsOf({ spans, headers }: Request, ids: Ids): TraceRecord[] {
  const traces = new Map<number, SpanRecord[]>(headers.map((trace) => [trace, []]));
  for (const one of spans) {
    const trace_id = ids.traces[one.trace] ?? '';
    const of = traces.get(one.trace) ?? [];
    traces.set(one.trace, of);
    const span_id = ids.span(one.trace, one.span);
    if (of.some((other) => other.span_id === span_id)) continue;
    const started_at = NOON + one.minutes * 60_000_000;
    of.push(
      aSpanRecord(trace_id, {
        span_id,
        parent_span_id: one.isRoot ? null : ids.span(one.trace, 9),
        status: one.status,
        started_at,
        ended_at: one.status === 'running' ? null : started_at + 1000,
        total_tokens: one.tokens,
        type: one.span % 2 === 0 ? 'agent' : 'http',
        name: `step ${String(one.span)}`,
        agent_hint: { source: 'agent span', name: `agent ${String(one.span % 2)}` },
        run_kind: 'agent',
      }),
    );
  }
  return [...traces].map(([trace, of]) => ({
    trace: aHeader({
      trace_id: ids.traces[trace] ?? '',
      follows_spans: true,
      status: 'running',
      agent: 'nobody',
      started_at: Math.min(NOON, ...of.map(({ started_at }) => started_at)),
    }),
    spans: of,
  }));
}

/** These, or their order, depend on the order of writes and reads. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'version',
  'nodes',
  'edges',
  'model_calls',
  'call_tokens',
]);

/** Everything a reader can see of a run row. */
function comparable(row: Readonly<Record<string, unknown>>): unknown {
  const { nodes, edges, model_calls: calls, call_tokens: tokens } = row;
  const rest = Object.fromEntries(Object.entries(row).filter(([name]) => !NOT_COMPARED.has(name)));
  const inOrder = (list: unknown): unknown[] =>
    (list as readonly object[]).map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  // An entry of one list belongs to the entry of the other at the same index.
  const pairs = (calls as readonly object[]).map((call, i) => ({
    call: sorted(call),
    tokens: sorted(itemAt(tokens as readonly object[], i)),
  }));
  return { ...sorted(rest), nodes: inOrder(nodes), edges: inOrder(edges), calls: inOrder(pairs) };
}

function sorted(fields: object): object {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function check(
  { connection, control }: Scene,
  user: { id: string; tenant: number },
  ids: Ids,
  nodes: NodeNumbers,
) {
  const wanted = ids.traces.map((traceId) => ({ tenant: user.tenant, traceId }));
  const facts = await readFacts(connection, wanted, new Map(), nodes);
  const stored = await connection.rows(
    `SELECT ${RUN_COLUMNS.map(({ name }) => name).join(', ')} FROM runs FINAL WHERE tenant = ${String(user.tenant)} ORDER BY trace_id`,
  );
  const agents = await control.agents.ofTenant(STORE, user.tenant);
  const expected = facts.flatMap((each) => {
    const applied = deriveRun(each, nodes);
    if (applied === null) return [];
    same(
      applied.wholes.map(({ made }) => made.begun.row.span_id),
      [],
    );
    const agent = agents.find(({ name }) => name === applied.run.agent);
    const [row] = runRows(applied, agent?.number ?? 0, 0);
    const values: Readonly<Record<string, unknown>> = { ...row?.rest, ...row?.fields };
    return [Object.fromEntries(RUN_COLUMNS.map(({ name }) => [name, values[name]]))];
  });
  const inOrder = (rows: readonly Readonly<Record<string, unknown>>[]): unknown[] =>
    rows.toSorted((a, b) => (String(a.trace_id) < String(b.trace_id) ? -1 : 1)).map(comparable);
  same(inOrder(stored), inOrder(expected));
  return facts;
}

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('concurrent gateways store the same rows as a sequential replay', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await scene(t, server);
  const { control, clock, gateways, addUser } = opened;
  const position = await control.events.open('test');
  let after = position;
  await neverDiffers(
    t,
    { runs: 40, ms: 8000 },
    [fc.array(round, { minLength: 1, maxLength: 4 })],
    async (rounds) => {
      const user = await addUser();
      const ids = new Ids();
      const acknowledged = new Set<string>();
      for (const { requests, faults } of rounds) {
        for (const [i, { faults: of }] of gateways.entries()) of.set(faults[i] ?? []);
        await Promise.all(
          requests.flatMap((one) => {
            const send = async (gateway: number): Promise<void> => {
              const items = itemsOf(one, ids);
              const spans = items.flatMap((item) => item.spans.map(({ span_id }) => span_id));
              const batch = { tenant: user.id, items, quota: QUOTA, service_map: deriveBatch(items) };
              try {
                await gateways[gateway]?.writer.write(batch, { receivedAt: NOON });
                for (const id of spans) acknowledged.add(id);
              } catch (error) {
                if (!(error instanceof ConsumeError)) throw error;
              }
            };
            const other = (one.gateway + 1) % GATEWAYS;
            return one.isSentTwice ? [send(one.gateway), send(other)] : [send(one.gateway)];
          }),
        );
      }
      for (const { faults } of gateways) faults.set([]);
      clock.advance(LEASE_MS + 1);
      for (const { finishLeft } of gateways) await finishLeft();
      const nodes = new NodeNumbers();
      const facts = await check(opened, user, ids, nodes);
      const found = new Set(facts.flatMap(({ spans }) => spans.map(({ row }) => row.span_id)));
      same(
        [...acknowledged].filter((id) => !found.has(id)),
        [],
      );
      // Each span once, plus each run that began without spans.
      const firstHeaders = facts.filter(({ messages }) => {
        const [first] = messages;
        return first?.kind === 'header' && first.spans === 0;
      });
      const most = found.size + firstHeaders.length;
      const [counted] = await control.writes.months(STORE, user.tenant, [monthOf(NOON)]);
      const used = counted?.items ?? 0;
      if (!(used >= found.size && used <= found.size + facts.length))
        console.error(
          'USED',
          used,
          found.size,
          facts.length,
          JSON.stringify(
            facts.map((f) => f.messages.map((m) => [m.order, m.kind === 'header' ? m.spans : 0])),
          ),
        );
      // The fences determine which of two headers without spans came first.
      same(used >= found.size && used <= found.size + facts.length, true);
      if (facts.every(({ messages }) => messages.every((one) => one.kind === 'header' && one.spans > 0)))
        same(used, most);
      const page = await control.events.read(after, { events: 10_000, bytes: 1e9 });
      after = page.next;
      const events = page.events.filter(({ tenant }) => tenant === user.id).map(({ event }) => event.body);
      const ends = new Map<string, string[]>();
      for (const { type, data } of events.map((body) => JSON.parse(body) as TraceEvent))
        if (type.startsWith('trace.')) ends.set(data.trace_id, [...(ends.get(data.trace_id) ?? []), type]);
      // A failure may follow another end, once.
      for (const [first, ...later] of ends.values())
        same(later.length === 0 || (first !== 'trace.failed' && later.join() === 'trace.failed'), true);
      for (const each of facts) {
        const run = deriveRun(each, nodes);
        if (run?.run.hasEnded !== true) continue;
        const types = ends.get(each.traceId) ?? [];
        same(types.length > 0, true);
        if (run.run.header.status === FAILED) same(types.at(-1), 'trace.failed');
      }
    },
  );
});

interface TraceEvent {
  readonly type: string;
  readonly data: { readonly trace_id: string };
}
