import { Type, type Static } from 'typebox';
import type { ComparedPeriods, PeriodTotals } from '../../storage/contracts/runs.js';
import { costPerRun } from '../../storage/shared/run-groups.js';
import { count, nullable, usd } from './fields.js';

/** Statistics of some runs; `RunTotals`. */
export const totalFields = {
  runs: count(
    'Number of runs; in groups with `group_by=model`, number of calls, as for all other values there.',
  ),
  failed: count('Runs with status `failed` or `timed_out`.'),
  success_count: count('Runs with a positive success signal; 0 for calls.'),
  cost: nullable(usd('Cost of the runs that have one; null: none has.')),
  priced_runs: count('Number of runs with a cost.'),
  tokens: nullable(Type.Number()),
  p50_ms: nullable(Type.Number({ description: 'Interpolated, over the runs with a duration.' })),
  p95_ms: nullable(Type.Number()),
};

const periodSchema = Type.Object(
  {
    ...totalFields,
    failure_count: count('Runs with a negative success signal; 0 for calls.'),
    cost_per_run: nullable(usd('Average over the runs with a cost.')),
  },
  { title: 'PeriodTotals' },
);

/** A period and the previous one. */
export const comparedFields = { total: periodSchema, previous_total: periodSchema };

export function serializeCompared({ total, previous_total }: ComparedPeriods) {
  return { total: serializePeriod(total), previous_total: serializePeriod(previous_total) };
}

function serializePeriod(totals: PeriodTotals): Static<typeof periodSchema> {
  return {
    runs: totals.runs,
    failed: totals.failed,
    success_count: totals.success_count,
    cost: totals.cost,
    priced_runs: totals.priced_runs,
    tokens: totals.tokens,
    p50_ms: totals.p50_ms,
    p95_ms: totals.p95_ms,
    failure_count: totals.failure_count,
    cost_per_run: costPerRun(totals),
  };
}
