import { itemAt } from '../../../signal/checked.js';
import { sumToNumber } from '../../../signal/money.js';
import { RUN_KINDS, RUN_STATUSES } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import type { NumberedVersion } from '../../contracts/prompts.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import {
  type FoundSeries,
  MOST_SERIES,
  type RunSeries,
  type RunTotals,
  type SeriesRequest,
} from '../../contracts/runs.js';
import { TRACES } from '../../schema/tables.js';
import type { Agents } from '../stats/agents.js';
import type { CellReading, CellsByStart, RunCell } from '../stats/run-cells.js';
import type { Connection } from '../files/connection.js';
import type { CommitRange } from '../segments/commit-ranges.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { number } from '../write/run-summary.js';
import { conditions, dimensionsOf } from './run-conditions.js';
import { hasScores } from './run-scores.js';
import { readModelSeries } from './model-series.js';
import { readCells, type CountedRuns, type Stretch } from './series-cells.js';

/** The key if all runs are one group, and the key of the runs outside the largest groups. */
const ALL = '0';
const OTHERS = -1;
const COLUMNS = { agent: 'agent_no', status: 'status', prompt_version: 'prompt_no' } as const;

/** The request, with the prompt resolved to the numbers of its versions. */
export interface StoredSeriesRequest extends Omit<SeriesRequest, 'prompt'> {
  readonly prompts?: readonly NumberedVersion[];
}

/** The keys by which runs are grouped. */
type Group = keyof typeof COLUMNS;

/** The context in which an answer is read. */
export interface SeriesPlace {
  readonly connection: Connection;
  readonly capture: Capture;
  readonly agents: Agents;
  readonly cells: CellReading;
  readonly tenant: number;
}

/** Runs by time: the totals of the requested period and of the previous one, and the buckets of the largest groups. */
export async function readSeries(place: SeriesPlace, request: StoredSeriesRequest): Promise<FoundSeries> {
  const { start_time, end_time, group_by, prompts } = request;
  const now = { from: start_time, to: end_time };
  const before = { from: Math.max(2 * start_time - end_time, Number.MIN_SAFE_INTEGER), to: start_time };
  const runs = wantedRuns(place, request, await hasScores(place, request.filter?.scores));
  const group = group_by === 'model' ? undefined : group_by;
  const key = group === undefined ? ALL : await groupsOf(place, request, runs, group);
  const cells = (by: string, stretches: readonly Stretch[]): Promise<CellsByStart[]> =>
    cellsBy(place, { ...runs, key: by }, request, stretches);
  // A run may use several versions of a prompt, so these groups do not add up to the total.
  const isSplit = group === 'agent' || group === 'status';
  const [grouped = NO_CELLS, earlier = NO_CELLS] =
    group === undefined
      ? (await cells(ALL, [before, now])).toReversed()
      : [...(await cells(key, [now])), ...(await cells(ALL, [before]))];
  const all = isSplit || group === undefined ? grouped : ((await cells(ALL, [now]))[0] ?? NO_CELLS);

  const byKey = groupBy(grouped);
  const percentiles = (by: string, of: CellsByStart, { from, to }: Stretch): Promise<PercentilesByKey> =>
    readPercentiles(place.connection, of, runs.within([{ first: from, last: to - 1 }], by), by);
  const total = totalOf(flat(all), (await percentiles(ALL, all, now)).get(0));
  const previous_total = totalOf(flat(earlier), (await percentiles(ALL, earlier, before)).get(0));
  const ofGroups = group === undefined ? null : await percentiles(key, grouped, now);
  const totals = new Map(
    ofGroups === null
      ? [[0, total]]
      : [...byKey]
          .filter(([one]) => one !== OTHERS)
          .map(([one, cells]) => [one, totalOf(cells.values(), ofGroups.get(one))]),
  );
  const groups =
    group_by === 'model'
      ? await readModelSeries(place.connection, place.capture, place.agents, place.tenant, request)
      : seriesBy(byKey, totals, (one) => identityOf(place.agents, group, prompts, one));
  return { groups, total, previous_total };
}

const NO_CELLS: CellsByStart = new Map();

interface Percentiles {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}
type PercentilesByKey = ReadonlyMap<number, Percentiles>;

/**
 * The exact percentiles of each group of runs. A group within one bucket already has them.
 *
 * @param cells the cells of all groups; with `ALL`, cells of any key form one group
 * @param runs a relation with these runs
 */
async function readPercentiles(
  connection: Connection,
  cells: CellsByStart,
  runs: string,
  by: string,
): Promise<PercentilesByKey> {
  const known = flat(cells).map((cell) => [by === ALL ? 0 : cell.key, cell] as const);
  const keys = new Set(known.map(([key]) => key));
  if (keys.size === known.length) return new Map(known);
  const rows = await connection.rows(
    `SELECT key, percentiles[1] AS p50_ms, percentiles[2] AS p95_ms
     FROM (SELECT (${by})::INTEGER AS key, quantile_cont(duration_ms, [0.5, 0.95]) AS percentiles FROM ${runs} GROUP BY key)`,
  );
  return new Map(
    rows.map(({ key, p50_ms, p95_ms }) => [Number(key), { p50_ms: number(p50_ms), p95_ms: number(p95_ms) }]),
  );
}

/** The selected runs, regardless of grouping. */
interface WantedRuns extends Omit<CountedRuns, 'within' | 'key'> {
  readonly agentNos: readonly number[] | null;
  readonly within: (ranges: readonly CommitRange[], by: string) => string;
}

/** @param also a further condition, which may name other tables */
function wantedRuns(
  { agents, capture, tenant }: SeriesPlace,
  request: StoredSeriesRequest,
  also: string,
): WantedRuns {
  const { agent_id, prompts, interval } = request;
  const agentNos =
    agent_id === undefined ? null : agents.namedById(tenant, agent_id).map(({ agent_no }) => agent_no);
  const isOf = [
    `tenant = ${tenant} AND kind = ${RUN_KINDS.indexOf('agent')}`,
    ...(agentNos === null ? [] : [`agent_no IN (${agentNos.join(', ') || '-1'})`]),
    ...dimensionsOf(request),
    ...(request.filter === undefined ? [] : [conditions(agents, tenant, request.filter)?.sql ?? 'FALSE']),
  ].join(' AND ');
  const links = prompts && promptLinks(capture, tenant, prompts);
  return {
    agentNos,
    interval,
    within: (ranges, by) => {
      const all = newest(
        capture,
        TRACES,
        ranges.map(
          ({ first, last }) =>
            `${isOf} AND started_at >= make_timestamp(${first}) AND started_at <= make_timestamp(${last})`,
        ),
      );
      const runs = also === 'TRUE' ? all : `(SELECT * FROM ${all} WHERE ${also})`;
      if (links === undefined) return runs;
      return by === ALL
        ? `(SELECT * FROM ${runs} WHERE trace_id IN (SELECT trace_id FROM ${links}))`
        : `(SELECT * FROM ${runs} JOIN ${links} USING (trace_id))`;
    },
  };
}

/** The distinct pairs of runs and used prompt versions, as a relation. */
function promptLinks(capture: Capture, tenant: number, prompts: readonly NumberedVersion[]): string {
  const numbers = prompts.map(({ number }) => number).join(', ') || '-1';
  const links = relation(capture, PROMPT_LINKS, `tenant = ${tenant} AND prompt_no IN (${numbers})`);
  return `(SELECT DISTINCT trace_id, prompt_no FROM ${links})`;
}

/** The SQL key of the groups. If there are too many groups, all but the largest are combined. */
async function groupsOf(
  { connection, agents, tenant }: SeriesPlace,
  { start_time, end_time, prompts = [] }: StoredSeriesRequest,
  { within, agentNos }: WantedRuns,
  group: Group,
): Promise<string> {
  const column = COLUMNS[group];
  const most = {
    agent: () =>
      agentNos?.length ?? [...agents.ofTenant(tenant)].filter(({ kind }) => kind === 'agent').length,
    status: () => RUN_STATUSES.length,
    prompt_version: () => prompts.length,
  }[group]();
  if (most <= MOST_SERIES) return column;
  const rows = await connection.rows(
    `SELECT ${column} AS key FROM ${within([{ first: start_time, last: end_time - 1 }], column)} GROUP BY key ORDER BY count(*) DESC, key LIMIT ${MOST_SERIES}`,
  );
  const largest = rows.map(({ key }) => Number(key)).sort((a, b) => a - b);
  return largest.length === 0
    ? column
    : `CASE WHEN ${column} IN (${largest.join(', ')}) THEN ${column} ELSE ${OTHERS} END`;
}

/** The cells of time ranges. Cells of prompts and versions are not cached: a changed run does not name them. */
async function cellsBy(
  { connection, cells, tenant }: SeriesPlace,
  { agentNos, key, interval, within }: WantedRuns & { readonly key: string },
  request: StoredSeriesRequest,
  stretches: readonly Stretch[],
): Promise<CellsByStart[]> {
  const runs = { key, interval, within: (ranges: readonly CommitRange[]) => within(ranges, key) };
  const view = { tenant, agentNos, key, interval };
  const { prompts, filter } = request;
  const areKept = prompts === undefined && filter === undefined && dimensionsOf(request).length === 0;
  const parts = await readCells(connection, runs, stretches, areKept ? cells.known(view) : NO_CELLS);
  if (areKept) for (const { found } of parts) cells.keep(view, found);
  return parts.map((part) => part.cells);
}

function flat(cells: CellsByStart): RunCell[] {
  return [...cells.values()].flat();
}

/** The cells of each group by the starts of their buckets. */
function groupBy(cells: CellsByStart): Map<number, Map<Micros, RunCell>> {
  const groups = new Map<number, Map<Micros, RunCell>>();
  for (const [start, ofBucket] of cells) {
    for (const cell of ofBucket) {
      const group = groups.get(cell.key) ?? new Map<Micros, RunCell>();
      groups.set(cell.key, group.set(start, cell));
    }
  }
  return groups;
}

/** Series by descending number of runs; the group of all others is last. */
function seriesBy(
  groups: ReadonlyMap<number, ReadonlyMap<Micros, RunCell>>,
  totals: ReadonlyMap<number, RunTotals>,
  identity: (key: number | null) => Pick<RunSeries, 'agent' | 'status' | 'prompt_version'>,
): RunSeries[] {
  const runs = (key: number): number => totals.get(key)?.runs ?? 0;
  return [...groups]
    .sort(([a], [b]) => Number(a === OTHERS) - Number(b === OTHERS) || runs(b) - runs(a) || a - b)
    .map(([key, buckets]) => ({
      ...identity(key === OTHERS ? null : key),
      total: totals.get(key) ?? null,
      buckets: [...buckets].map(([start, cell]) => ({ start, ...totalOf([cell], cell) })),
    }));
}

function identityOf(
  agents: Agents,
  group: Group | undefined,
  prompts: readonly NumberedVersion[] = [],
  key: number | null,
): Pick<RunSeries, 'agent' | 'status' | 'prompt_version'> {
  const agent = key === null || group !== 'agent' ? undefined : agents.byNumber(key);
  return {
    agent: agent === undefined ? null : { id: agent.id, name: agent.name },
    status: key === null || group !== 'status' ? null : itemAt(RUN_STATUSES, key),
    ...(group === 'prompt_version'
      ? { prompt_version: prompts.find(({ number }) => number === key)?.version ?? null }
      : {}),
  };
}

/** Exact until the sums are converted to doubles. */
function totalOf(cells: Iterable<RunCell>, percentiles: Percentiles | undefined): RunTotals {
  let [runs, failed, success_count, priced_runs] = [0, 0, 0, 0];
  let nanos: bigint | null = null;
  let tokens: bigint | null = null;
  for (const cell of cells) {
    runs += cell.runs;
    failed += cell.failed;
    success_count += cell.successes;
    priced_runs += cell.priced;
    if (cell.nanos !== null) nanos = (nanos ?? 0n) + cell.nanos;
    if (cell.tokens !== null) tokens = (tokens ?? 0n) + cell.tokens;
  }
  return {
    runs,
    failed,
    success_count,
    cost: nanos === null ? null : sumToNumber(nanos),
    priced_runs,
    tokens: tokens === null ? null : Number(tokens),
    p50_ms: percentiles?.p50_ms ?? null,
    p95_ms: percentiles?.p95_ms ?? null,
  };
}
