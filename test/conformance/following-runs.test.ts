import t, { type Test } from 'tap';
import type { TraceHeader } from '../../src/signal/trace.js';
import { RUN_SORTS, type RunFilter, type RunCursor, type RunSort } from '../../src/storage/contracts/runs.js';
import { aHeader, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';

const RECEIVED = { receivedAt: NOON };

/** Values that are missing, equal and of any size. */
function someRuns(): TraceHeader[] {
  return Array.from({ length: 60 }, (_, i) =>
    aHeader({
      agent: i % 5 === 0 ? 'other' : 'researcher',
      status: i % 4 === 0 ? 'failed' : 'completed',
      started_at: NOON + Math.floor(i / 3) * 1000,
      duration_ms: i % 7 === 0 ? null : (i % 10) * 0.1 + 1e-7,
      total_tokens: i % 11 === 0 ? null : i % 4,
      total_cost_usd: i % 13 === 0 ? null : (i * 7919) % 1000,
    }),
  );
}

const FIGURES: Readonly<Record<RunSort, (run: TraceHeader) => number | null>> = {
  duration_ms: (run) => run.duration_ms,
  total_tokens: (run) => run.total_tokens,
  total_cost_usd: (run) => run.total_cost_usd,
};

function matches(run: TraceHeader, filter: RunFilter): boolean {
  const { status, min_duration_ms, max_duration_ms, min_cost, max_cost } = filter;
  const isAtLeast = (figure: number | null, least?: number): boolean =>
    least === undefined || (figure !== null && figure >= least);
  const isAtMost = (figure: number | null, most?: number): boolean =>
    most === undefined || (figure !== null && figure <= most);
  return (
    (status === undefined || run.status === status) &&
    isAtLeast(run.duration_ms, min_duration_ms) &&
    isAtMost(run.duration_ms, max_duration_ms) &&
    isAtLeast(run.total_cost_usd, min_cost) &&
    isAtMost(run.total_cost_usd, max_cost)
  );
}

/** The ids of a list, in order. */
function expected(runs: readonly TraceHeader[], filter: RunFilter): string[] {
  const turn = filter.oldest_first === true ? 1 : -1;
  const figure = filter.sort === undefined ? () => 0 : FIGURES[filter.sort];
  const byStart = (a: TraceHeader, b: TraceHeader): number =>
    turn * (a.started_at - b.started_at || (a.trace_id < b.trace_id ? -1 : 1));
  return runs
    .filter((run) => matches(run, filter))
    .sort((a, b) => {
      const [one, other] = [figure(a), figure(b)];
      if (one === null || other === null)
        return Number(one === null) - Number(other === null) || byStart(a, b);
      return turn * (one - other) || byStart(a, b);
    })
    .map(({ trace_id }) => trace_id);
}

async function followed({ runs }: TelemetryStore, userId: string, filter: RunFilter): Promise<string[]> {
  const ids: string[] = [];
  let after: RunCursor | null = null;
  for (;;) {
    const found = await runs.follow(userId, filter, { after, limit: 17 });
    ids.push(...found.items.map(({ trace_id }) => trace_id));
    for await (const page of found.rest?.pages ?? []) ids.push(...page.map(({ trace_id }) => trace_id));
    if (found.next === null) return ids;
    after = found.next;
  }
}

const FILTERS: readonly RunFilter[] = [
  {},
  { status: 'failed' },
  { min_duration_ms: 0.1 + 1e-7, max_duration_ms: 0.5 },
  { min_cost: 100 },
  { max_cost: 500, min_duration_ms: 0.2 },
];

function checkFollowing(t: Test, open: OpenTelemetry): void {
  void t.test('lists in every order by page and cursor, within bounds of stats', async (t) => {
    const opened = await open(t, { fileRows: 25 });
    const userId = await opened.addUser();
    const runs = someRuns();
    for (let from = 0; from < runs.length; from += 10) {
      const items = runs.slice(from, from + 10).map((trace) => ({ trace, spans: [] }));
      await opened.store.writer.traces({ tenant: userId, items }, RECEIVED);
    }
    for (const state of ['hot', 'moved']) {
      for (const sort of [undefined, ...RUN_SORTS])
        for (const oldest_first of [false, true])
          for (const bounds of FILTERS) {
            const filter = { ...bounds, ...(sort && { sort }), ...(oldest_first && { oldest_first }) };
            const ids = expected(runs, filter);
            const name = `${state}: ${JSON.stringify(filter)}`;
            t.strictSame(await followed(opened.store, userId, filter), ids, name);
            const page = await opened.store.runs.list(userId, filter, { offset: 3, limit: 10 });
            t.equal(page.count, ids.length, name);
            t.strictSame(
              page.items.map(({ trace_id }) => trace_id),
              ids.slice(3, 13),
              name,
            );
          }
      await opened.settled();
    }
  });

  void t.test(
    'a cursor stays valid when runs are added before it; an unknown one returns nothing',
    async (t) => {
      const opened = await open(t);
      const userId = await opened.addUser();
      const write = async (changes: Partial<TraceHeader>): Promise<string> => {
        const trace = aHeader(changes);
        await opened.store.writer.traces({ tenant: userId, items: [{ trace, spans: [] }] }, RECEIVED);
        return trace.trace_id;
      };
      t.strictSame(await followed(opened.store, userId, {}), []);
      const ids = [];
      for (let i = 0; i < 3; i++) ids.unshift(await write({ started_at: NOON + i }));
      const first = await opened.store.runs.follow(userId, {}, { after: null, limit: 2 });
      t.strictSame(
        first.items.map(({ trace_id }) => trace_id),
        ids.slice(0, 2),
      );
      await write({ started_at: NOON + 10 });
      const second = await opened.store.runs.follow(userId, {}, { after: first.next, limit: 2 });
      t.strictSame([second.items.map(({ trace_id }) => trace_id), second.next], [ids.slice(2), null]);
      t.strictSame(await followed(opened.store, userId, { agent_id: ids[0] ?? '' }), []);
      t.strictSame(await followed(opened.store, await opened.addUser(), {}), []);
    },
  );
}

await onEveryTelemetry(t, checkFollowing);
