import { Type } from 'typebox';
import type { RunOutcomes } from '../../storage/agents.js';
import { count, nullable } from './fields.js';

interface Signals {
  readonly success_count: number;
  readonly failure_count: number;
}

/** Runs with `success` true among those that have a success signal, 0 to 1; null where none has one. */
export function successRate({ success_count, failure_count }: Signals): number | null {
  const signals = success_count + failure_count;
  return signals === 0 ? null : success_count / signals;
}

/** The same on a scale of 0 to 100 with one decimal. */
export function successPercentage(signals: Signals): number | null {
  const rate = successRate(signals);
  return rate === null ? null : toPercentage(rate);
}

/** How runs went by their status: for agents whose clients never say whether they succeeded. */
export const outcomeFields = {
  failed_runs: count('Runs whose status is `failed` or `timed_out`.'),
  failure_percentage: nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        'Failed runs among those that are finished (every status but `running`), one decimal; null: none is.',
    }),
  ),
};

/** Values for {@link outcomeFields}. */
export function printOutcomes({ failed_runs, finished_runs }: RunOutcomes): {
  failed_runs: number;
  failure_percentage: number | null;
} {
  const rate = finished_runs === 0 ? null : failed_runs / finished_runs;
  return { failed_runs, failure_percentage: rate === null ? null : toPercentage(rate) };
}

function toPercentage(rate: number): number {
  return Math.round(rate * 1000) / 10;
}
