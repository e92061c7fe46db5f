import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { AGENT_SORTS, type AgentSort, type AgentSummary } from '../../src/storage/contracts/runs.js';
import type { TraceHeader } from '../../src/signal/trace.js';
import { aHeader, DAY, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const ALL = { offset: 0, limit: 100 };
const NOBODY = randomUUID();

async function write({ store }: OpenedTelemetry, tenant: string, runs: readonly Partial<TraceHeader>[]) {
  const items = runs.map((run) => ({ trace: aHeader(run), spans: [] }));
  await store.writer.traces({ tenant, items }, { receivedAt: NOON });
}

/** Missing values come last, and ties are ordered by name. */
function sorted(agents: readonly AgentSummary[], sort: AgentSort): string[] {
  const [sign, field] = sort.startsWith('-') ? [-1, sort.slice(1)] : [1, sort];
  const value = (agent: AgentSummary) => agent[field as Exclude<keyof AgentSummary, 'periods'>];
  return [...agents]
    .sort((a, b) => {
      const [one, other] = [value(a), value(b)];
      const byName = a.name < b.name ? -1 : 1;
      if (one === other) return byName;
      if (one === null || other === null) return one === null ? 1 : -1;
      return one < other ? -sign : sign;
    })
    .map(({ name }) => name);
}

function checkAgents(t: Test, open: OpenTelemetry): void {
  void t.test('lists pages of agents in every order', async (t) => {
    const opened = await open(t);
    const user = await opened.addUser();
    await write(opened, user, [
      { agent: 'Mail', started_at: NOON, total_cost_usd: 5_000_000_000, success: true },
      { agent: 'mail sorter', started_at: NOON + 1 },
      { agent: 'archive', started_at: NOON + 2, total_cost_usd: 0 },
      { agent: 'archive', started_at: NOON - DAY, total_cost_usd: 8_000_000_000, success: false },
      { agent: '100 %', started_at: NOON },
    ]);
    await opened.caughtUp();
    const { agents } = opened.store;
    const all = await agents.list(user);
    t.same(
      all.map(({ name }) => name),
      sorted(all, '-last_run_at'),
    );
    t.match(
      all.find(({ name }) => name === 'archive'),
      {
        total_runs: 2,
        success_count: 0,
        failure_count: 1,
        total_cost: 8,
        avg_cost_per_run: 4,
        created_at: NOON,
      },
    );
    for (const sort of AGENT_SORTS) {
      const { items, count } = await agents.find(user, { sort }, ALL);
      t.same(
        items.map(({ name }) => name),
        sorted(all, sort),
        sort,
      );
      t.equal(count, 4);
    }
    t.match(await agents.find(user, { sort: 'name' }, { offset: 1, limit: 2 }), {
      items: [{ name: 'Mail' }, { name: 'archive' }],
      count: 4,
    });
    t.same(await agents.find(user, {}, { offset: 9, limit: 2 }), { items: [], count: 4 });
    for (const [query, names] of [
      ['MAIL', ['Mail', 'mail sorter']],
      ['%', ['100 %']],
      ['_', []],
      ["'", []],
    ] as const) {
      const { items, count } = await agents.find(user, { query, sort: 'name' }, ALL);
      t.same(
        items.map(({ name }) => name),
        names,
        query,
      );
      t.equal(count, names.length);
    }
  });

  void t.test('returns the days of an agent with exact bounds', async (t) => {
    const opened = await open(t);
    const user = await opened.addUser();
    const midnight = Math.floor(NOON / DAY) * DAY;
    await write(opened, user, [
      { started_at: midnight - 1, status: 'failed', duration_ms: 10 },
      {
        started_at: midnight,
        duration_ms: 10,
        success: true,
        total_tokens: 7,
        total_cost_usd: 1_500_000_000,
      },
      { started_at: midnight + 1, status: 'timed_out', duration_ms: 30, success: false },
      { started_at: midnight + DAY, status: 'running' },
    ]);
    await opened.caughtUp();
    const { agents } = opened.store;
    const [agent] = await agents.list(user);
    t.match(agent, { total_runs: 4, failed_runs: 2, finished_runs: 3 }, 'regardless of success signals');
    const id = agent?.id ?? '';
    const found = await agents.days(user, id, { from: midnight, to: midnight + DAY });
    t.equal(found?.name, 'researcher');
    const nothing = { sampled_runs: 0, total_cost: 0, total_tokens: 0, success_count: 0, failure_count: 0 };
    t.same(found?.days, [
      {
        ...{ date: '2026-01-15', total_runs: 2, success_count: 1, failure_count: 1 },
        ...{ failed_runs: 1, finished_runs: 2 },
        ...{ total_cost: 1.5, total_tokens: 7, avg_latency_ms: 20, p95_latency_ms: 29 },
        estimate: {
          ...{ counted_runs: 2, sampled_runs: 0, total_runs: 2, success_count: 1, failure_count: 1 },
          ...{ failed_runs: 1, finished_runs: 2, total_cost: 1.5, total_tokens: 7, avg_latency_ms: 20 },
        },
      },
      {
        ...{ date: '2026-01-16', total_runs: 1, success_count: 0, failure_count: 0 },
        ...{ failed_runs: 0, finished_runs: 0 },
        ...{ total_cost: 0, total_tokens: 0, avg_latency_ms: null, p95_latency_ms: null },
        estimate: {
          ...nothing,
          ...{ counted_runs: 1, total_runs: 1, failed_runs: 0, finished_runs: 0, avg_latency_ms: null },
        },
      },
    ]);
    const before = await agents.days(user, id, { from: midnight - DAY, to: midnight - 1 });
    t.match(before?.days, [{ date: '2026-01-14', total_runs: 1, failed_runs: 1 }]);
    t.same(await agents.days(user, id, { from: midnight + 2, to: midnight + 3 }), {
      name: 'researcher',
      days: [],
    });
  });

  void t.test('estimates sampled runs by their sample rate', async (t) => {
    const opened = await open(t);
    const user = await opened.addUser();
    await write(opened, user, [
      { sample_rate: 0.1, duration_ms: 10, success: true, total_cost_usd: 250_000_000, total_tokens: 3 },
      { sample_rate: 0.25, duration_ms: 20, status: 'timed_out', success: false },
      { sample_rate: 1, duration_ms: 100, status: 'failed', total_cost_usd: 1_000_000_000 },
      { sample_rate: null, status: 'running', total_tokens: 5 },
    ]);
    await opened.caughtUp();
    const { agents, runs } = opened.store;
    const [agent] = await agents.list(user);
    const id = agent?.id ?? '';
    const estimate = {
      ...{ counted_runs: 4, sampled_runs: 2, total_runs: 16, success_count: 10, failure_count: 4 },
      ...{ failed_runs: 5, finished_runs: 15, total_cost: 3.5, total_tokens: 35 },
      avg_latency_ms: (10 * 10 + 4 * 20 + 100) / 15,
    };
    const found = await agents.days(user, id, { from: 0, to: NOON });
    t.match(
      found?.days,
      [{ total_runs: 4, success_count: 1, failed_runs: 2, total_cost: 1.25 }],
      'as counted',
    );
    t.same(found?.days[0]?.estimate, estimate);
    t.same(await agents.estimate(user, id), estimate);
    t.equal(await agents.estimate(user, NOBODY), null);
    const rates = (await runs.list(user, {}, ALL)).items.map(({ sample_rate }) => sample_rate);
    t.strictSame(rates.sort(), [0.1, 0.25, 1, null]);
  });

  void t.test(
    'agent ids belong to one user, keep their data and are returned in request order',
    async (t) => {
      const opened = await open(t);
      const [anna, ben] = [await opened.addUser(), await opened.addUser()];
      await write(opened, anna, [
        { agent: 'one', duration_ms: 1 },
        { agent: 'two', duration_ms: 2 },
      ]);
      await opened.caughtUp();
      const [one, two] = (await opened.store.agents.find(anna, { sort: 'name' }, ALL)).items;
      if (one === undefined || two === undefined) throw new Error('the agents are missing');
      await opened.reopen();
      const { agents } = opened.store;
      t.same(await agents.read(anna, one.id), one);
      t.same(await agents.compare(anna, [two.id, one.id]), [
        { ...two, p95_latency_ms: 2 },
        { ...one, p95_latency_ms: 1 },
      ]);
      t.equal(await agents.compare(anna, [one.id, NOBODY]), null);
      t.same(await agents.compare(anna, []), []);
      for (const [user, id] of [
        [ben, one.id],
        [anna, NOBODY],
      ] as const) {
        t.equal(await agents.read(user, id), null);
        t.equal(await agents.days(user, id, { from: 0, to: NOON }), null);
        t.equal(await agents.compare(user, [id]), null);
      }
      t.same(await agents.list(ben), []);
      t.same(await agents.find(ben, {}, ALL), { items: [], count: 0 });
    },
  );
}

await onEveryTelemetry(t, checkAgents);
