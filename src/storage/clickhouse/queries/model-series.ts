import { sumToNumber } from '../../../signal/money.js';
import { MOST_SERIES, type RunSeries, type SeriesBucket, type SeriesRequest } from '../../run-series.js';
import { seriesOfModels } from '../../series-of-models.js';
import { callSums, CALL_SUMS } from './call-sums.js';
import type { ListParts } from './listed-runs.js';

/** The calls of the models with the most calls by time, then those of all others. */
export async function readModelSeries(
  parts: ListParts,
  tenant: number,
  { start_time, end_time, interval, agent_id }: SeriesRequest,
  abort?: AbortSignal,
): Promise<RunSeries[]> {
  const filter = { start_time, end_time: end_time - 1, ...(agent_id === undefined ? {} : { agent_id }) };
  const calls = await callSums(parts, tenant, filter, interval, abort);
  if (calls === null) return [];
  const rows = await parts.reads.rows(
    // One pass: a relation that is named twice is read twice.
    `WITH sums AS (
       SELECT ifNull(model, '') AS name, one.at - positiveModulo(one.at, ${interval}) AS bucket, ${CALL_SUMS}
       FROM ${calls} AS one GROUP BY name, bucket HAVING calls > 0 OR priced > 0),
     of_models AS (SELECT *, sum(calls) OVER (PARTITION BY name) AS of_model FROM sums),
     placed AS (SELECT *, dense_rank() OVER (ORDER BY of_model DESC, name) AS place FROM of_models)
     SELECT if(place <= ${MOST_SERIES}, name, NULL) AS key, bucket, sum(calls) AS all_calls, sum(priced) AS all_priced,
       toString(sum(toInt128(cost))) AS all_cost, sum(tokens) AS all_tokens
     FROM placed GROUP BY key, bucket ORDER BY bucket`,
    abort,
  );
  const groups = new Map<string | null, SeriesBucket[]>();
  for (const row of rows) {
    const key = typeof row.key === 'string' ? row.key : null;
    const known = groups.get(key) ?? [];
    groups.set(key, known);
    const priced = Number(row.all_priced);
    known.push({
      start: Number(row.bucket),
      runs: Number(row.all_calls),
      failed: 0,
      success_count: 0,
      cost: priced === 0 ? null : sumToNumber(BigInt(String(row.all_cost))),
      priced_runs: priced,
      tokens: Number(row.all_tokens),
      p50_ms: null,
      p95_ms: null,
    });
  }
  return seriesOfModels(groups);
}
