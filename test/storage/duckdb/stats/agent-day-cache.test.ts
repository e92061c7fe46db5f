import t from 'tap';
import { AgentDayCache } from '../../../../src/storage/duckdb/stats/agent-day-cache.js';
import type { CountedRun } from '../../../../src/storage/duckdb/stats/counted-run.js';
import type { AgentDay } from '../../../../src/storage/contracts/runs.js';

const DAY = 86_400_000_000;
const AGENT = 7;

interface Range {
  readonly from: number;
  readonly to: number;
}

function wholeDays(first: number, last: number): Range {
  return { from: first * DAY, to: last * DAY + DAY - 1 };
}

/** Runs by day, and the ranges that were asked of them. */
class Tables {
  readonly runs = new Map<number, number>();
  readonly asked: string[] = [];
  /** Called while a query is under way. */
  meanwhile: () => void = () => undefined;

  readonly query = async ({ from, to }: Range): Promise<AgentDay[]> => {
    this.asked.push(`${from / DAY}-${Math.floor(to / DAY)}`);
    const found = [...this.runs].filter(([day]) => day * DAY >= from && day * DAY <= to);
    const days = found.map(([day, runs]) => figures(day, runs));
    await Promise.resolve();
    this.meanwhile();
    return days;
  };
}

function figures(day: number, runs: number): AgentDay {
  return {
    date: new Date((day * DAY) / 1000).toISOString().slice(0, 10),
    total_runs: runs,
    success_count: 0,
    failure_count: 0,
    failed_runs: 0,
    finished_runs: 0,
    total_cost: 0,
    total_tokens: 0,
    avg_latency_ms: null,
    p95_latency_ms: null,
    estimate: {
      ...{ counted_runs: 0, sampled_runs: 0, total_runs: 0, success_count: 0, failure_count: 0 },
      ...{ failed_runs: 0, finished_runs: 0, total_cost: 0, total_tokens: 0, avg_latency_ms: null },
    },
  };
}

/** A run of an agent, as a commit tells of it. */
function aRun(agentNo: number, startedAt: number): CountedRun {
  return { tenant: 1, agentNo, kind: 0, startedAt, status: 1, success: null, cost: null, durationMs: null };
}

void t.test('a day is worked out once, days without runs included', async (t) => {
  const cache = new AgentDayCache(100);
  const tables = new Tables();
  tables.runs.set(10, 3);
  const expected = [figures(10, 3)];
  t.same(await cache.read(AGENT, wholeDays(8, 12), tables.query), expected);
  t.same(await cache.read(AGENT, wholeDays(8, 12), tables.query), expected);
  t.same(await cache.read(AGENT, wholeDays(9, 13), tables.query), expected);
  t.same(tables.asked, ['8-12', '13-13']);
});

void t.test('a commit makes its own day be worked out again, and no other', async (t) => {
  const cache = new AgentDayCache(100);
  const tables = new Tables();
  tables.runs.set(10, 3).set(11, 1);
  await cache.read(AGENT, wholeDays(8, 12), tables.query);
  tables.runs.set(10, 4);
  cache.change(null, aRun(AGENT, 10 * DAY + 5));
  cache.change(null, aRun(AGENT + 1, 11 * DAY));
  t.same(await cache.read(AGENT, wholeDays(8, 12), tables.query), [figures(10, 4), figures(11, 1)]);
  t.same(tables.asked, ['8-12', '10-10']);
});

void t.test('a run that goes to another agent or day makes both be worked out again', async (t) => {
  const cache = new AgentDayCache(100);
  const tables = new Tables();
  tables.runs.set(10, 3).set(11, 1);
  await cache.read(AGENT, wholeDays(8, 12), tables.query);
  cache.change(aRun(AGENT, 10 * DAY), aRun(AGENT + 1, 10 * DAY));
  cache.change(aRun(AGENT, 11 * DAY), aRun(AGENT, 12 * DAY));
  await cache.read(AGENT, wholeDays(8, 12), tables.query);
  t.same(tables.asked, ['8-12', '10-12']);
});

void t.test('what a commit touches while a query is under way is not kept', async (t) => {
  const cache = new AgentDayCache(100);
  const tables = new Tables();
  tables.runs.set(10, 3);
  tables.meanwhile = () => {
    cache.change(null, aRun(AGENT, 10 * DAY));
  };
  t.same(await cache.read(AGENT, wholeDays(9, 11), tables.query), [figures(10, 3)]);
  tables.meanwhile = () => undefined;
  tables.runs.set(10, 4);
  t.same(await cache.read(AGENT, wholeDays(9, 11), tables.query), [figures(10, 4)]);
  t.same(tables.asked, ['9-11', '10-10']);
});

void t.test('clearing forgets everything, the queries under way included', async (t) => {
  const cache = new AgentDayCache(100);
  const tables = new Tables();
  tables.runs.set(10, 3);
  tables.meanwhile = () => {
    cache.clear();
  };
  await cache.read(AGENT, wholeDays(9, 11), tables.query);
  tables.meanwhile = () => undefined;
  tables.runs.clear();
  t.same(await cache.read(AGENT, wholeDays(9, 11), tables.query), []);
});

void t.test('a range that cuts days is asked of the tables', async (t) => {
  const cache = new AgentDayCache(100);
  const tables = new Tables();
  const range = { from: 8 * DAY + 1, to: 9 * DAY };
  await cache.read(AGENT, range, tables.query);
  await cache.read(AGENT, range, tables.query);
  t.equal(tables.asked.length, 2);
});

void t.test('the days kept are bounded: the agent asked for longest ago goes first', async (t) => {
  const cache = new AgentDayCache(20);
  const tables = new Tables();
  for (const agent of [1, 2, 1, 3]) await cache.read(agent, wholeDays(1, 10), tables.query);
  tables.asked.length = 0;
  await cache.read(1, wholeDays(1, 10), tables.query);
  t.same(tables.asked, []);
  await cache.read(2, wholeDays(1, 10), tables.query);
  t.same(tables.asked, ['1-10']);
});
