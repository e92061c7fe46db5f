import { meanCost, sumToNumber, type Usd } from '../../signal/money.js';
import { DIMENSIONS, type Dimension } from '../../signal/run-context.js';
import type { Prompts } from '../contracts/prompts.js';
import type { FoundGroups, GroupRequest, GroupSort, Regression, RunGroup } from '../contracts/run-groups.js';
import type {
  AgentSummary,
  CallFilter,
  ComparedPeriods,
  Period,
  PeriodTotals,
  RunFilter,
} from '../contracts/runs.js';
import { numberOf, textOf } from './summaries-of-rows.js';

/** Fewer runs, or fewer runs with a success signal, are not significant; nor are percentiles of fewer runs. */
const MIN_RUNS = 5;
const MIN_TIMED_RUNS = 20;
/** Minimum change of a share, and how many standard errors it must exceed. */
const MIN_POINTS = 0.03;
const MIN_ERRORS = 2;
/** Minimum factors of the cost per run and of the 95th percentile of durations. */
const MORE_COST = 1.25;
const LONGER = 1.5;

type Row = Readonly<Record<string, unknown>>;

/** Sums over the runs of a period; exact. Rows of all engines have these columns, with `signals` and `nanos` and `tokens` as texts. */
interface Sums {
  readonly runs: number;
  readonly failed: number;
  readonly finished: number;
  readonly successes: number;
  readonly failures: number;
  readonly nanos: bigint;
  /** Number of runs with a cost. */
  readonly priced: number;
  /** Whether there is a cost. */
  readonly hasCost: boolean;
  readonly tokens: bigint;
  /** Number of runs with tokens. */
  readonly counted: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly last_at: number | null;
}

interface Compared {
  readonly now: Sums;
  readonly before: Sums;
}

const NONE: Sums = {
  runs: 0,
  failed: 0,
  finished: 0,
  successes: 0,
  failures: 0,
  nanos: 0n,
  priced: 0,
  hasCost: false,
  tokens: 0n,
  counted: 0,
  p50_ms: null,
  p95_ms: null,
  last_at: null,
};

/** The identity of a group. @param key empty: runs without a value @returns undefined to leave out the group */
export type IdentityOf = (key: string) => Pick<RunGroup, 'key' | 'name'> | undefined;

/** Key and name are the value itself. */
export const OF_VALUE: IdentityOf = (key) => ({ key: key === '' ? null : key, name: null });

/** What selects the runs of both periods. */
export type SelectedRuns = Period & Partial<Pick<GroupRequest, 'agent_id' | 'filter' | Dimension>>;

/** The calls of both periods, in runs of agents: not those of judges. */
export function callsOfPeriods(request: SelectedRuns): CallFilter & Period {
  const { agent_id, start_time, end_time } = request;
  const dimensions = DIMENSIONS.flatMap((field) =>
    request[field] === undefined ? [] : [[field, request[field]] as const],
  );
  return {
    ...Object.fromEntries(dimensions),
    ...(agent_id === undefined ? {} : { agent_id }),
    kind: 'agent',
    start_time: Math.max(2 * start_time - end_time, Number.MIN_SAFE_INTEGER),
    end_time: end_time - 1,
  };
}

/** The runs of both periods. */
export function runsOfPeriods(request: SelectedRuns): RunFilter {
  return { ...request.filter, ...callsOfPeriods(request) };
}

/**
 * Groups from the rows of a statement.
 *
 * @param rows by `key` and `is_now`, and for all runs by `is_now` with `is_total`; each row of a group has the number of all groups, `keys`
 */
export function groupsOfRows(
  rows: readonly Row[],
  { group_by, sort, limit }: GroupRequest,
  identityOf: IdentityOf,
): FoundGroups {
  const all = compared(rows.filter(isTotal));
  const ofGroups = rows.filter((row) => !isTotal(row));
  const groups = [...comparedByKey(ofGroups)]
    .flatMap(([key, sums]) => {
      const identity = identityOf(key);
      return identity === undefined ? [] : { identity, sums, worse: regressionsOf(sums) };
    })
    .sort(inOrder(sort))
    .slice(0, limit);
  const count = Number(ofGroups[0]?.keys ?? 0);
  const isSplit = group_by !== 'tag' && group_by !== 'prompt_version';
  return {
    ...periodsOf(all),
    groups: groups.map(({ identity, sums, worse }) => ({
      ...identity,
      ...periodsOf(sums),
      regressions: [...worse.keys()],
    })),
    count,
    others:
      isSplit && count > groups.length
        ? periodsOf({
            now: without(all.now, groups, 'now'),
            before: without(all.before, groups, 'before'),
          })
        : null,
  };
}

/** Replaces the numbers of prompt versions by names and versions; deleted ones are left out. */
export async function withPromptNames(
  found: FoundGroups,
  prompts: Pick<Prompts, 'withNumbers'>,
  userId: string,
): Promise<FoundGroups> {
  const known = await prompts.withNumbers(
    userId,
    found.groups.map(({ key }) => Number(key)),
  );
  const versions = new Map(known.map((version) => [String(version.number), version]));
  const groups = found.groups.flatMap((group) => {
    const version = versions.get(group.key ?? '');
    return version === undefined ? [] : [{ ...group, key: String(version.version), name: version.name }];
  });
  return { ...found, groups };
}

/** Totals of both periods by key. */
export function periodsByKey(rows: readonly Row[]): ReadonlyMap<string, ComparedPeriods> {
  const ofGroups = rows.filter((row) => !isTotal(row));
  return new Map([...comparedByKey(ofGroups)].map(([key, sums]) => [key, periodsOf(sums)]));
}

/** An agent whose statistics are those of a period. */
export function agentOfPeriods(
  { id, name, created_at }: Pick<AgentSummary, 'id' | 'name' | 'created_at'>,
  periods: ComparedPeriods,
): AgentSummary {
  const { total } = periods;
  return {
    id,
    name,
    total_runs: total.runs,
    success_count: total.success_count,
    failure_count: total.failure_count,
    failed_runs: total.failed,
    finished_runs: total.finished_runs,
    total_cost: total.cost,
    avg_cost_per_run: costPerRun(total),
    last_run_at: total.last_at,
    created_at,
    periods,
  };
}

/** Over the runs that have a cost; null if none has. */
export function costPerRun({ cost, priced_runs }: Pick<PeriodTotals, 'cost' | 'priced_runs'>): Usd | null {
  return cost === null ? null : meanCost(cost, priced_runs);
}

function isTotal({ is_total }: Row): boolean {
  return Number(is_total) === 1;
}

function comparedByKey(rows: readonly Row[]): ReadonlyMap<string, Compared> {
  const byKey = new Map<string, Row[]>();
  for (const row of rows) {
    const key = String(row.key);
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [row]);
    else known.push(row);
  }
  return new Map([...byKey].map(([key, its]) => [key, compared(its)]));
}

/** @param rows one for each period with runs */
function compared(rows: readonly Row[]): Compared {
  const of = (isNow: boolean): Sums => {
    const row = rows.find(({ is_now }) => (Number(is_now) === 1) === isNow);
    return row === undefined ? NONE : sumsOf(row);
  };
  return { now: of(true), before: of(false) };
}

function sumsOf(row: Row): Sums {
  const [nanos, tokens] = [textOf(row.nanos), textOf(row.tokens)];
  const priced = Number(row.priced);
  const cost = BigInt(nanos ?? 0);
  return {
    runs: Number(row.runs),
    failed: Number(row.failed),
    finished: Number(row.finished),
    successes: Number(row.successes),
    failures: Number(row.signals) - Number(row.successes),
    nanos: cost,
    priced,
    hasCost: priced > 0 || cost > 0n,
    tokens: BigInt(tokens ?? 0),
    counted: Number(row.counted),
    p50_ms: numberOf(row.p50_ms),
    p95_ms: numberOf(row.p95_ms),
    last_at: Number(row.last_at),
  };
}

/** The sums without those of some groups. */
function without(all: Sums, groups: readonly { readonly sums: Compared }[], period: keyof Compared): Sums {
  const left = groups.reduce(
    (rest, { sums: { [period]: one } }) => ({
      ...NONE,
      runs: rest.runs - one.runs,
      failed: rest.failed - one.failed,
      finished: rest.finished - one.finished,
      successes: rest.successes - one.successes,
      failures: rest.failures - one.failures,
      nanos: rest.nanos - one.nanos,
      priced: rest.priced - one.priced,
      tokens: rest.tokens - one.tokens,
      counted: rest.counted - one.counted,
    }),
    { ...all },
  );
  return { ...left, hasCost: left.priced > 0 || left.nanos > 0n, p50_ms: null, p95_ms: null, last_at: null };
}

function periodsOf({ now, before }: Compared): ComparedPeriods {
  return { total: totalsOf(now), previous_total: totalsOf(before) };
}

function totalsOf(sums: Sums): PeriodTotals {
  return {
    runs: sums.runs,
    failed: sums.failed,
    success_count: sums.successes,
    cost: sums.hasCost ? sumToNumber(sums.nanos) : null,
    priced_runs: sums.priced,
    tokens: sums.counted === 0 ? null : Number(sums.tokens),
    p50_ms: sums.p50_ms,
    p95_ms: sums.p95_ms,
    failure_count: sums.failures,
    finished_runs: sums.finished,
    last_at: sums.last_at,
  };
}

/** What clearly got worse, with a rank by how much. */
function regressionsOf({ now, before }: Compared): ReadonlyMap<Regression, number> {
  const found = new Map<Regression, number>();
  const failures = rise({ part: now.failed, of: now.finished }, { part: before.failed, of: before.finished });
  if (failures > 0) found.set('failures', 10 * failures);
  const losses = rise(
    { part: now.failures, of: now.failures + now.successes },
    { part: before.failures, of: before.failures + before.successes },
  );
  if (losses > 0) found.set('success', 10 * losses);
  const cost = factor(costOf(now), costOf(before));
  if (Math.min(now.priced, before.priced) >= MIN_RUNS && cost >= MORE_COST)
    found.set('cost', Math.log2(cost));
  const longer = factor(now.p95_ms, before.p95_ms);
  if (Math.min(now.finished, before.finished) >= MIN_TIMED_RUNS && longer >= LONGER)
    found.set('duration', Math.log2(longer) / 2);
  return found;
}

interface Share {
  readonly part: number;
  readonly of: number;
}

/** By how much a share rose, if the rise is clear; otherwise 0. */
function rise(now: Share, before: Share): number {
  if (Math.min(now.of, before.of) < MIN_RUNS) return 0;
  const by = now.part / now.of - before.part / before.of;
  const pooled = (now.part + before.part) / (now.of + before.of);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / now.of + 1 / before.of));
  return by >= MIN_POINTS && by > MIN_ERRORS * error ? by : 0;
}

function costOf({ nanos, priced }: Sums): number | null {
  return priced === 0 ? null : Number(nanos) / priced;
}

function factor(now: number | null, before: number | null): number {
  return now === null || before === null || before <= 0 ? 0 : now / before;
}

interface Ranked {
  readonly identity: Pick<RunGroup, 'key' | 'name'>;
  readonly sums: Compared;
  readonly worse: ReadonlyMap<Regression, number>;
}

function inOrder(sort: GroupSort): (a: Ranked, b: Ranked) => number {
  const rank = ({ worse }: Ranked): number => [...worse.values()].reduce((sum, one) => sum + one, 0);
  // Groups without a cost come last.
  const cost = ({ sums: { now } }: Ranked): bigint => (now.hasCost ? now.nanos : -1n);
  return (a, b) => {
    const by = sort === 'regression' ? rank(b) - rank(a) : 0;
    if (by !== 0) return by;
    if (cost(a) !== cost(b)) return cost(a) < cost(b) ? 1 : -1;
    return b.sums.now.runs - a.sums.now.runs || compareTexts(nameOf(a), nameOf(b));
  };
}

function nameOf({ identity: { key, name } }: Ranked): string {
  return `${name ?? ''} ${key ?? ''}`;
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
