import { Type, type Static } from 'typebox';
import type { EstimatedRuns, RunOutcomes } from '../../storage/contracts/runs.js';
import { count, nullable, usd } from './fields.js';

interface Signals {
  readonly success_count: number;
  readonly failure_count: number;
}

/** Share of runs with `success` true among those with a success signal, 0 to 1; null if no run has a signal. */
export function successRate({ success_count, failure_count }: Signals): number | null {
  const signals = success_count + failure_count;
  return signals === 0 ? null : success_count / signals;
}

/** The same on a scale of 0 to 100 with one decimal. */
export function successPercentage(signals: Signals): number | null {
  const rate = successRate(signals);
  return rate === null ? null : toPercentage(rate);
}

/** Run counts by status, for agents whose clients never report success. */
export const outcomeFields = {
  failed_runs: count('Runs with status `failed` or `timed_out`.'),
  failure_percentage: nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        'Percentage of failed runs among finished runs (all statuses but `running`), one decimal; null: no finished runs.',
    }),
  ),
};

/** Values for {@link outcomeFields}. */
export function serializeOutcomes({ failed_runs, finished_runs }: RunOutcomes): {
  failed_runs: number;
  failure_percentage: number | null;
} {
  const rate = finished_runs === 0 ? null : failed_runs / finished_runs;
  return { failed_runs, failure_percentage: rate === null ? null : toPercentage(rate) };
}

export const estimateParameter = Type.Optional(
  Type.Boolean({
    description:
      'Adds `estimate`: the values without sampling, where each run stands for 1 / `sample_rate` runs. Other values count stored runs.',
  }),
);

export const estimateSchema = Type.Object(
  {
    counted_runs: count('Stored runs that the estimate is based on.'),
    sampled_runs: count(
      'Number of them with a `sample_rate` below 1. 0: nothing is estimated and all values are exact.',
    ),
    total_runs: count(),
    success_count: count(),
    failure_count: count(),
    ...outcomeFields,
    success_rate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    total_cost: usd('US dollars; 0 without any cost'),
    total_tokens: count(),
    avg_latency_ms: nullable(Type.Number()),
  },
  {
    title: 'EstimatedRuns',
    description: 'Estimates without sampling. Only if requested.',
  },
);

/** Counts as integers; derived values are computed before rounding. */
export function serializeEstimate(estimate: EstimatedRuns): Static<typeof estimateSchema> {
  return {
    counted_runs: estimate.counted_runs,
    sampled_runs: estimate.sampled_runs,
    total_runs: Math.round(estimate.total_runs),
    success_count: Math.round(estimate.success_count),
    failure_count: Math.round(estimate.failure_count),
    ...serializeOutcomes(estimate),
    failed_runs: Math.round(estimate.failed_runs),
    success_rate: successRate(estimate),
    total_cost: estimate.total_cost,
    total_tokens: Math.round(estimate.total_tokens),
    avg_latency_ms: estimate.avg_latency_ms,
  };
}

function toPercentage(rate: number): number {
  return Math.round(rate * 1000) / 10;
}
