import { RUNNING } from '../../../runs/rules/rows.js';
import type { EstimatedRuns } from '../../contracts/runs.js';
import { estimateOfRow } from '../../shared/summaries-of-rows.js';
import { HAS_FAILED, TRACES } from '../../schema/tables.js';
import type { Agent } from '../stats/agents.js';
import { runsOf } from '../stats/stored-runs.js';
import type { Connection } from '../files/connection.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** Number of runs that a sampled run represents (the Horvitz–Thompson estimator, which is unbiased). */
const WEIGHT = '(1 / coalesce(sample_rate, 1))';
const weighed = (what: string): string => `coalesce(sum(${WEIGHT} * (${what})::DOUBLE), 0)`;

/** Columns of a group of runs from which {@link estimateOfRow} computes the estimate. */
export const ESTIMATES = `count(*) AS counted_runs, coalesce(sum((sample_rate < 1)::TINYINT), 0)::BIGINT AS sampled_runs, coalesce(sum(${WEIGHT}), 0) AS e_runs,
  ${weighed('success')} AS e_successes, ${weighed('NOT success')} AS e_failures,
  ${weighed(HAS_FAILED)} AS e_failed, ${weighed(`status <> ${RUNNING}`)} AS e_finished,
  ${weighed('total_cost_usd')} AS e_cost, ${weighed('total_tokens')} AS e_tokens,
  sum(${WEIGHT} * duration_ms) / sum(CASE WHEN duration_ms IS NOT NULL THEN ${WEIGHT} END) AS e_latency`;

/** The estimate over all runs of an agent. */
export async function estimateRuns(
  connection: Connection,
  capture: Capture,
  { tenant, agent_no }: Agent,
): Promise<EstimatedRuns> {
  const runs = newest(capture, TRACES, runsOf({ tenant, numbers: [agent_no] }));
  const [row] = await connection.rows(`SELECT ${ESTIMATES} FROM ${runs}`);
  return estimateOfRow(row ?? {});
}
