import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import {
  MOST_SERIES,
  type RunSeries,
  type SeriesBucket,
  type DimensionFilter,
} from '../../contracts/runs.js';
import { seriesOfModels } from '../../shared/series-of-models.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import type { Capture } from '../segments/segment.js';
import { callsOf, sumsOfCalls } from '../segments/call-sums.js';
import { COUNTED_PARTS, hourlyParts, IS_USED } from './models.js';
import { number, sumOf } from '../write/run-summary.js';
import { someCalls } from './summed-calls.js';

/** The time range, the agent and the versions of the calls that are added up. */
interface Stretch extends DimensionFilter {
  readonly start_time: number;
  readonly end_time: number;
  readonly interval: number;
  readonly agent_id?: string;
}

/** The start of a bucket in microseconds, as SQL; also correct before 1970. @param at SQL, in microseconds */
export function bucketStart(at: string, interval: number): string {
  return `${at} - ((${at} % ${interval}) + ${interval}) % ${interval}`;
}

/**
 * The calls over time in runs of agents: of the models with the most calls, then of all other models. Buckets of whole hours are computed from
 * hourly sums, narrower ones from the calls.
 */
export async function readModelSeries(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  { interval, ...of }: Stretch,
): Promise<RunSeries[]> {
  const filter = { ...of, kind: 'agent', end_time: of.end_time - 1 } as const;
  let parts: string | null;
  if (interval % MICROS_PER_HOUR === 0) {
    const hourly = await hourlyParts(connection, capture, agents, tenant, filter);
    const start = bucketStart(`hour::BIGINT * ${MICROS_PER_HOUR}`, interval);
    parts = hourly === null ? null : `SELECT ${start} AS bucket, * FROM (${hourly})`;
  } else {
    const calls = someCalls(capture, agents, tenant, filter);
    const start = `${bucketStart('epoch_us(started_at)', interval)} AS bucket`;
    parts =
      calls === null
        ? null
        : `SELECT bucket, model, ${COUNTED_PARTS} FROM (${sumsOfCalls([callsOf(calls)], [start])})`;
  }
  if (parts === null) return [];
  const rows = await connection.rows(
    `WITH sums AS MATERIALIZED (
       SELECT coalesce(model, '') AS model, bucket, sum(calls) AS calls, sum(priced_calls) AS priced, sum(nanos) AS nanos, sum(total_tokens) AS tokens
       FROM (${parts}) GROUP BY ALL HAVING ${IS_USED}),
     largest AS (SELECT model FROM sums GROUP BY model ORDER BY sum(calls) DESC, model LIMIT ${MOST_SERIES})
     SELECT CASE WHEN model IN (SELECT model FROM largest) THEN model END AS key, bucket, sum(calls)::BIGINT AS calls, sum(priced)::BIGINT AS priced,
       CASE WHEN sum(priced) > 0 OR sum(nanos) > 0 THEN sum(nanos) END::VARCHAR AS cost, sum(tokens)::DOUBLE AS tokens
     FROM sums GROUP BY ALL ORDER BY bucket`,
  );
  const groups = new Map<string | null, SeriesBucket[]>();
  for (const row of rows) {
    const key = typeof row.key === 'string' ? row.key : null;
    const known = groups.get(key);
    const bucket = {
      start: Number(row.bucket),
      runs: Number(row.calls),
      failed: 0,
      success_count: 0,
      cost: sumOf(row.cost),
      priced_runs: Number(row.priced),
      tokens: number(row.tokens),
      p50_ms: null,
      p95_ms: null,
    };
    if (known === undefined) groups.set(key, [bucket]);
    else known.push(bucket);
  }
  return seriesOfModels(groups);
}
