import t, { type Test } from 'tap';
import { NO_CONTEXT, DIMENSIONS } from '../../src/signal/run-context.js';
import { MICROS_PER_HOUR } from '../../src/signal/time-units.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { RunCursor, DimensionFilter } from '../../src/storage/contracts/runs.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import { aFollowingRecord } from '../storage/duckdb/following-records.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const ALL = { offset: 0, limit: 100 };
const AGENTS = ['planner', 'writer'] as const;
const ENVIRONMENTS = ['production', "dev's", null] as const;
const RELEASES = ['1.0', '1.1', null, '1.0'] as const;

interface AnyRun extends Record<(typeof DIMENSIONS)[number], string | null> {
  readonly id: string;
  readonly agent: string;
  readonly user: string;
  readonly model: string;
  readonly cost: number;
  readonly at: number;
  readonly record: TraceRecord;
}

function itemOf<Item>(list: readonly Item[], n: number): Item {
  return list[n % list.length] as Item;
}

/** A run with one call. Every other run is declared; the others take the dimensions from their spans. */
function aRun(n: number): AnyRun {
  const id = `00000000-0000-4000-8000-${String(n + 1).padStart(12, '0')}`;
  const agent = itemOf(AGENTS, n >> 1);
  const [environment, release] = [itemOf(ENVIRONMENTS, n), itemOf(RELEASES, n >> 1)];
  const agent_version = n % 5 === 0 ? 'v5' : null;
  const repository = n % 3 === 0 ? 'acme/shop' : null;
  const [user, model, cost] = [`user ${n % 3}`, `model ${n % 2}`, 1000 * (n + 1)];
  const at = NOON + n * (MICROS_PER_HOUR / 4);
  const times = { started_at: at, ended_at: at + 5000 };
  const dimensions = { environment, release, agent_version, repository };
  const common = { ...times, input_tokens: n, output_tokens: 1, cost_usd: cost, model } as const;
  const declared = {
    trace: aHeader({
      ...times,
      ...dimensions,
      trace_id: id,
      agent,
      metadata: { user_id: user, session_id: `${user}/${agent}` },
    }),
    spans: [aSpanRecord(id, common)],
  };
  const following = aFollowingRecord([
    aSpanRecord(id, {
      ...common,
      agent_hint: { source: 'root', name: agent },
      run_kind: 'agent',
      context: { ...NO_CONTEXT, ...dimensions, user_id: user, session_id: `${user}/${agent}` },
    }),
  ]);
  return { ...dimensions, id, agent, user, model, cost, at, record: n % 4 < 2 ? declared : following };
}

const FILTERS: readonly DimensionFilter[] = [
  { environment: 'production' },
  { environment: " dev's " },
  { release: '1.0' },
  { agent_version: 'v5' },
  { repository: 'acme/shop', release: '1.0' },
  { environment: 'production', release: '1.1' },
  { environment: 'production', release: '1.0', agent_version: 'v5' },
  { release: 'production' },
];

function matches(run: AnyRun, filter: DimensionFilter): boolean {
  return DIMENSIONS.every((field) => filter[field] === undefined || filter[field].trim() === run[field]);
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
const dollars = (runs: readonly AnyRun[]): number =>
  Number((sum(runs.map(({ cost }) => cost)) / 1e9).toFixed(9));

/** The runs by a key, as pairs of key, number and cost. */
function grouped(runs: readonly AnyRun[], by: (run: AnyRun) => string): unknown[] {
  const keys = [...new Set(runs.map(by))].sort();
  return keys.map((key) => {
    const those = runs.filter((run) => by(run) === key);
    return [key, those.length, dollars(those)];
  });
}

async function followed({ runs }: TelemetryStore, user: string, filter: DimensionFilter): Promise<string[]> {
  const ids: string[] = [];
  let after: RunCursor | null = null;
  do {
    const page = await runs.follow(user, filter, { after, limit: 4 });
    ids.push(...page.items.map(({ trace_id }) => trace_id));
    after = page.next;
  } while (after !== null);
  return ids;
}

/** What every list and series answers. */
async function answers(store: TelemetryStore, user: string, filter: DimensionFilter) {
  const { runs, agents, sessions, models, series } = store;
  const range = { start_time: NOON, end_time: NOON + 24 * MICROS_PER_HOUR };
  const read = (request: { readonly group_by?: 'agent' | 'model'; readonly interval: number }) =>
    series.read(user, { ...range, ...filter, ...request });
  const [list, found, listed, users, used, plain, ofAgents, ofModels] = await Promise.all([
    runs.list(user, filter, ALL),
    agents.find(user, { ...filter, sort: 'name' }, ALL),
    sessions.list(user, filter, ALL),
    sessions.users(user, filter, ALL),
    models.list(user, filter, ALL),
    read({ interval: MICROS_PER_HOUR }),
    read({ interval: MICROS_PER_HOUR, group_by: 'agent' }),
    read({ interval: MICROS_PER_HOUR / 60, group_by: 'model' }),
  ]);
  return {
    list: [list.count, list.items.map(({ trace_id }) => trace_id)],
    followed: await followed(store, user, filter),
    agents: found.items.map(({ name, total_runs, total_cost }) => [name, total_runs, total_cost]),
    last_runs: found.items.map(({ last_run_at }) => last_run_at),
    sessions: listed.items.map(({ session_id }) => session_id).sort(),
    users: users.items.map(({ user_id, runs: count, total_cost }) => [user_id, count, total_cost]).sort(),
    models: used.items.map(({ model, calls, total_cost }) => [model, calls, total_cost]).sort(),
    total: [plain.total.runs, plain.total.cost],
    series: ofAgents.groups.map(({ agent, total }) => [agent?.name, total?.runs, total?.cost]).sort(),
    calls: ofModels.groups
      .map(({ model, buckets }) => [model, sum(buckets.map(({ runs: count }) => count))])
      .sort(),
  };
}

function expected(all: readonly AnyRun[], filter: DimensionFilter): Awaited<ReturnType<typeof answers>> {
  const runs = all.filter((run) => matches(run, filter)).sort((a, b) => b.at - a.at);
  const ids = runs.map(({ id }) => id);
  const byAgent = grouped(runs, ({ agent }) => agent) as [string, number, number][];
  const byModel = grouped(runs, ({ model }) => model) as [string, number, number][];
  return {
    list: [ids.length, ids],
    followed: ids,
    agents: byAgent,
    last_runs: byAgent.map(([name]) => runs.find(({ agent }) => agent === name)?.at ?? null),
    sessions: [...new Set(runs.map(({ user, agent }) => `${user}/${agent}`))].sort(),
    users: grouped(runs, ({ user }) => user) as [string, number, number][],
    models: byModel,
    total: [runs.length, runs.length === 0 ? null : dollars(runs)],
    series: byAgent,
    calls: byModel.map(([model, calls]) => [model, calls]),
  };
}

function checkDimensions(t: Test, open: OpenTelemetry): void {
  void t.test('every list and series selects runs by environment, release and agent version', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    const [user, other] = [await opened.addUser(), await opened.addUser()];
    const runs = Array.from({ length: 24 }, (_, n) => aRun(n));
    for (const { record } of runs)
      await opened.store.writer.traces(
        { tenant: user, items: [record] },
        { receivedAt: record.trace.started_at },
      );
    await opened.caughtUp();
    for (const state of ['written', 'compacted', 'reopened']) {
      for (const filter of FILTERS) {
        const label = `${state}: ${JSON.stringify(filter)}`;
        t.strictSame(await answers(opened.store, user, filter), expected(runs, filter), label);
        t.match(await answers(opened.store, other, filter), { list: [0, []], agents: [], models: [] }, label);
      }
      const { items } = await opened.store.runs.list(user, { oldest_first: true }, ALL);
      const shown = items.map(({ environment, release, agent_version, repository }) => [
        environment,
        release,
        agent_version,
        repository,
      ]);
      t.strictSame(
        shown,
        runs.map((run) => DIMENSIONS.map((field) => run[field])),
        state,
      );
      await opened.settled();
      if (state === 'compacted') await opened.reopen();
    }
  });

  void t.test('a run has the dimensions of its topmost span, whenever it comes', async (t) => {
    const opened = await open(t);
    const user = await opened.addUser();
    const { id } = aRun(0);
    const root = '00000000-0000-4000-8000-00000000000a';
    const write = (part: Parameters<typeof aSpanRecord>[1]): Promise<unknown> =>
      opened.store.writer.traces(
        { tenant: user, items: [aFollowingRecord([aSpanRecord(id, part)])] },
        { receivedAt: NOON },
      );
    const below = {
      ...NO_CONTEXT,
      environment: 'staging',
      release: '2',
      agent_version: 'a',
      repository: 'r',
    };
    await write({ parent_span_id: root, started_at: NOON + 2, context: below, run_kind: 'agent' });
    const read = async () => {
      const found = await opened.store.runs.read(user, id);
      return [found?.environment, found?.release, found?.agent_version, found?.repository];
    };
    t.strictSame(await read(), ['staging', '2', 'a', 'r']);
    await opened.reopen();
    await write({
      span_id: root,
      started_at: NOON,
      context: { ...NO_CONTEXT, environment: 'production', release: '1' },
      run_kind: 'agent',
    });
    t.strictSame(await read(), ['production', '1', 'a', 'r']);
    await opened.caughtUp();
    const count = async (filter: DimensionFilter) => (await opened.store.runs.list(user, filter, ALL)).count;
    t.equal(await count({ environment: 'staging' }), 0);
    t.equal(await count({ environment: 'production', agent_version: 'a' }), 1);
    // A declared header wins, and leaves open what it lacks.
    const trace = aHeader({ trace_id: id, started_at: NOON, release: 'declared' });
    await opened.store.writer.traces({ tenant: user, items: [{ trace, spans: [] }] }, { receivedAt: NOON });
    t.strictSame(await read(), ['production', 'declared', 'a', 'r']);
  });
}

await onEveryTelemetry(t, checkDimensions);
