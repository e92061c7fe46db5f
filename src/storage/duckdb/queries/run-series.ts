import { itemAt } from '../../../signal/checked.js';
import { RUN_KINDS, RUN_STATUSES } from '../../../signal/span.js';
import {
  MOST_SERIES,
  type FoundSeries,
  type RunSeries,
  type RunTotals,
  type SeriesBucket,
  type SeriesRequest,
} from '../../run-series.js';
import type { NumberedVersion } from '../../prompts.js';
import { PROMPT_LINKS } from '../../prompt-links-table.js';
import { TRACES } from '../../tables.js';
import type { Agents } from '../figures/agents.js';
import type { Connection, Row } from '../files/connection.js';
import { newest, relation } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { bucketStart, readModelSeries } from './model-series.js';
import { number, sumOf } from './run-summary.js';

const [FAILED, TIMED_OUT] = [RUN_STATUSES.indexOf('failed'), RUN_STATUSES.indexOf('timed_out')];
/** Sums are exact, and only the result becomes the nearest double. */
const FIGURES = `count(*) AS runs, count(*) FILTER (status IN (${FAILED}, ${TIMED_OUT})) AS failed,
  count(*) FILTER (success) AS success_count, sum(total_cost_usd)::VARCHAR AS cost, count(total_cost_usd) AS priced_runs, sum(total_tokens)::DOUBLE AS tokens,
  quantile_disc(duration_ms, 0.5) AS p50_ms, quantile_disc(duration_ms, 0.95) AS p95_ms`;
const COLUMNS = 'started_at, status, success, total_cost_usd, total_tokens, duration_ms, agent_no, trace_id';
const GROUP_COLUMNS = { agent: 'agent_no', status: 'status', prompt_version: 'prompt_no' } as const;

const NOTHING: RunTotals = {
  runs: 0,
  failed: 0,
  success_count: 0,
  cost: null,
  priced_runs: 0,
  tokens: null,
  p50_ms: null,
  p95_ms: null,
};

/** What is asked for, with the numbers of the prompt's versions. */
export interface StoredSeriesRequest extends Omit<SeriesRequest, 'prompt'> {
  readonly prompts?: readonly NumberedVersion[];
}

/** Runs by time: the totals of the time asked for and of the one before, then the buckets of the largest groups. */
export async function readSeries(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  request: StoredSeriesRequest,
): Promise<FoundSeries> {
  const { start_time: start, end_time: end, agent_id, prompts } = request;
  const named = agent_id === undefined ? null : agents.namedById(tenant, agent_id);
  const isOf = [
    `tenant = ${tenant} AND kind = ${RUN_KINDS.indexOf('agent')}`,
    ...(named === null ? [] : [`agent_no IN (${named.map((one) => one.agent_no).join(', ') || '-1'})`]),
  ].join(' AND ');
  const links = prompts && promptLinks(capture, tenant, prompts);
  const used = links === undefined ? '' : ` WHERE trace_id IN (SELECT trace_id FROM ${links})`;
  const between = (from: number, to: number): string =>
    `(SELECT ${COLUMNS} FROM ${newest(capture, TRACES, `${isOf} AND started_at >= make_timestamp(${from}) AND started_at < make_timestamp(${to})`)}${used})`;

  const totals = await connection.rows(
    `SELECT started_at >= make_timestamp(${start}) AS is_now, ${FIGURES} FROM ${between(Math.max(2 * start - end, Number.MIN_SAFE_INTEGER), end)} GROUP BY is_now`,
  );
  const totalOf = (isNow: boolean): RunTotals => {
    const row = totals.find(({ is_now }) => is_now === isNow);
    return row === undefined ? NOTHING : figuresOf(row);
  };
  const groups =
    request.group_by === 'model'
      ? await readModelSeries(connection, capture, agents, tenant, request)
      : await readGroups(connection, agents, between(start, end), links, request, totalOf(true));
  return { groups, total: totalOf(true), previous_total: totalOf(false) };
}

/** @param runs those within the time, as a relation @param links which runs used which of the versions, each pair once */
async function readGroups(
  connection: Connection,
  agents: Agents,
  runs: string,
  links: string | undefined,
  { group_by, interval, prompts = [] }: StoredSeriesRequest,
  total: RunTotals,
): Promise<RunSeries[]> {
  const column = group_by === undefined || group_by === 'model' ? 'NULL::INTEGER' : GROUP_COLUMNS[group_by];
  const counted =
    group_by === 'prompt_version' ? `(SELECT * FROM ${runs} JOIN ${links ?? runs} USING (trace_id))` : runs;
  const largest =
    group_by === undefined
      ? []
      : await connection.rows(
          `SELECT ${column} AS key, ${FIGURES} FROM ${counted} GROUP BY key ORDER BY runs DESC, key LIMIT ${MOST_SERIES}`,
        );
  const keys = largest.map(({ key }) => Number(key));
  const totals = new Map<number | null, RunTotals>(largest.map((row) => [Number(row.key), figuresOf(row)]));
  if (group_by === undefined) totals.set(null, total);
  const shown = keys.length === 0 ? 'NULL' : `CASE WHEN ${column} IN (${keys.join(', ')}) THEN ${column} END`;
  const rows = await connection.rows(
    `SELECT ${shown} AS key, ${bucketStart('epoch_us(started_at)', interval)} AS bucket, ${FIGURES}
     FROM ${counted} GROUP BY key, bucket ORDER BY bucket`,
  );
  const buckets = new Map<number | null, SeriesBucket[]>();
  for (const row of rows) {
    const key = row.key === null ? null : Number(row.key);
    const known = buckets.get(key);
    const bucket = { start: Number(row.bucket), ...figuresOf(row) };
    if (known === undefined) buckets.set(key, [bucket]);
    else known.push(bucket);
  }
  return [...keys, null].flatMap((key): RunSeries[] => {
    const found = buckets.get(key);
    if (found === undefined) return [];
    const agent = key === null || group_by !== 'agent' ? undefined : agents.byNumber(key);
    const version = prompts.find((each) => each.number === key)?.version ?? null;
    return [
      {
        agent: agent === undefined ? null : { id: agent.id, name: agent.name },
        status: key === null || group_by !== 'status' ? null : itemAt(RUN_STATUSES, key),
        ...(group_by === 'prompt_version' ? { prompt_version: version } : {}),
        total: totals.get(key) ?? null,
        buckets: found,
      },
    ];
  });
}

/** Which runs used which of some versions, each pair once, as a relation. */
function promptLinks(capture: Capture, tenant: number, prompts: readonly NumberedVersion[]): string {
  const numbers = prompts.map(({ number }) => number).join(', ') || '-1';
  const links = relation(capture, PROMPT_LINKS, `tenant = ${tenant} AND prompt_no IN (${numbers})`);
  return `(SELECT DISTINCT trace_id, prompt_no FROM ${links})`;
}

function figuresOf(row: Row): RunTotals {
  return {
    runs: Number(row.runs),
    failed: Number(row.failed),
    success_count: Number(row.success_count),
    cost: sumOf(row.cost),
    priced_runs: Number(row.priced_runs),
    tokens: number(row.tokens),
    p50_ms: number(row.p50_ms),
    p95_ms: number(row.p95_ms),
  };
}
