import t from 'tap';
import type { CountedRun } from '../../../../src/storage/duckdb/stats/counted-run.js';
import {
  RunCells,
  type CellsByStart,
  type CellView,
  type RunCell,
} from '../../../../src/storage/duckdb/stats/run-cells.js';

const HOUR = 3_600_000_000;
const VIEW: CellView = { tenant: 1, agentNos: null, key: '0', interval: HOUR };

/** A run as a commit reports it. */
function aRun(startedAt: number, changes: Partial<CountedRun> = {}): CountedRun {
  const stats = { status: 1, success: null, cost: null, durationMs: null };
  return { tenant: 1, agentNo: 7, kind: 0, startedAt, ...stats, ...changes };
}

/** Cells for this many runs. */
function cells(runs: number, count = 1): RunCell[] {
  const sums = { failed: 0, successes: 0, nanos: null, priced: 0, tokens: null, p50_ms: null, p95_ms: null };
  return Array.from({ length: count }, (_, key) => ({ key, runs, ...sums }));
}

function found(runs: Readonly<Record<number, number>>): CellsByStart {
  return new Map(Object.entries(runs).map(([hour, count]) => [Number(hour) * HOUR, cells(count)]));
}

async function keep(cache: RunCells, of: CellsByStart, view = VIEW, seq = 1): Promise<void> {
  await cache.read(view.tenant, seq, async ({ keep }) => {
    keep(view, of);
  });
}

/** The cached hours with their runs. */
async function known(cache: RunCells, view = VIEW, seq = 99): Promise<Record<number, number>> {
  return await cache.read(view.tenant, seq, async (reading) =>
    Object.fromEntries(
      [...reading.known(view)].map(([start, [cell]]) => [start / HOUR, cell?.runs ?? 0] as const),
    ),
  );
}

void t.test('buckets stay cached until a commit changes them', async (t) => {
  const cache = new RunCells();
  await keep(cache, found({ [-1]: 1, 0: 2, 1: 3, 2: 4 }));
  cache.change(null, aRun(HOUR, { tenant: 2 }));
  cache.change(null, aRun(HOUR, { kind: 1 }));
  t.strictSame(await known(cache), { [-1]: 1, 0: 2, 1: 3, 2: 4 }, 'other tenants and kinds do not matter');
  cache.change(aRun(-1), aRun(2 * HOUR));
  t.strictSame(await known(cache), { 0: 2, 1: 3 }, 'a run that moved between buckets');
  cache.clear();
  t.strictSame(await known(cache), {});
  t.equal(cache.bytes, 0);
});

void t.test('views of some agents are invalidated only by their runs', async (t) => {
  const cache = new RunCells();
  const view = { ...VIEW, agentNos: [7, 8] };
  await keep(cache, found({ 0: 1, 1: 1 }), view);
  cache.change(null, aRun(0, { agentNo: 9 }));
  t.strictSame(await known(cache, view), { 0: 1, 1: 1 });
  cache.change(aRun(0, { agentNo: 8 }), aRun(0, { agentNo: 9 }));
  t.strictSame(await known(cache, view), { 1: 1 });
  t.strictSame(await known(cache), {}, 'no view of all agents is cached');
});

void t.test('buckets changed while being read are not cached', async (t) => {
  const cache = new RunCells();
  await cache.read(1, 1, async ({ keep }) => {
    cache.change(null, aRun(HOUR + 1));
    keep(VIEW, found({ 0: 1, 1: 1 }));
  });
  t.strictSame(await known(cache), { 0: 1 });
  await cache.read(1, 1, async ({ keep }) => {
    cache.clear();
    keep(VIEW, found({ 2: 1 }));
  });
  t.strictSame(await known(cache), {}, 'nothing is cached after runs were removed');
});

void t.test('a read does not use results of a later one', async (t) => {
  const cache = new RunCells();
  await keep(cache, found({ 0: 1 }), VIEW, 5);
  await keep(cache, found({ 1: 1 }), VIEW, 6);
  t.strictSame(await known(cache, VIEW, 5), { 0: 1 });
  t.strictSame(await known(cache, VIEW, 6), { 0: 1, 1: 1 });
});

void t.test('memory is bounded per user and in total', async (t) => {
  const cache = new RunCells(10_000, 6000);
  const big: CellsByStart = new Map([[0, cells(1, 7)]]);
  const views = [60, 61, 62].map((seconds) => ({ ...VIEW, interval: seconds * 1_000_000 }));
  for (const view of views) await keep(cache, big, view);
  t.strictSame(await Promise.all(views.map((view) => known(cache, view))), [{}, { 0: 1 }, { 0: 1 }]);
  for (const tenant of [2, 3, 4]) await keep(cache, big, { ...VIEW, tenant });
  t.ok(cache.bytes <= 10_000);
  t.strictSame(await known(cache, { ...VIEW, tenant: 4 }), { 0: 1 });
  await keep(cache, new Map([[0, cells(1, 40)]]), { ...VIEW, tenant: 5 });
  t.strictSame(await known(cache, { ...VIEW, tenant: 5 }), {}, 'an entry that is too large is not cached');
  for (let i = 1; i <= 40; i++) await keep(cache, found({ 0: 1 }), { ...VIEW, tenant: 6, key: String(i) });
  t.strictSame(await known(cache, { ...VIEW, tenant: 6, key: '1' }), {}, 'a commit checks few views');
  t.strictSame(await known(cache, { ...VIEW, tenant: 6, key: '40' }), { 0: 1 });
  cache.clear();
  t.equal(cache.bytes, 0);
});
