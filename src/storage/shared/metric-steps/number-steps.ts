import { isQuantile, type MetricSeries, type MetricSeriesRequest } from '../../contracts/metrics.js';
import { SeriesGroups, stepsOf } from './series-groups.js';
import { StepValues } from './step-values.js';

/** Read limits per result: the newest points, and aggregated rows held in memory. */
export const MOST_NUMBERS = 500_000;
export const MOST_NUMBER_ROWS = 100_000;

type Row = Readonly<Record<string, unknown>>;

/** Gauges and sums by step, from rows that an engine aggregated by labels, source and step. */
export class NumberSteps {
  readonly #groups: SeriesGroups<StepValues>;
  readonly #agg: MetricSeriesRequest['agg'];

  constructor(request: MetricSeriesRequest) {
    const steps = stepsOf(request);
    this.#groups = new SeriesGroups(request, () => new StepValues(steps));
    this.#agg = request.agg;
  }

  /**
    * @param row for `rate` an increase: `labels` as stored, `since` and `until` in microseconds, `growth`; otherwise the stats of a step:
    *   `labels`, `step` (its index), `count`, `sum`, `min`, `max`, `last`, `last_at`, `total` (`StepStats`)
   */
  add(row: Row): void {
    const group = this.#groups.of(String(row.labels));
    if (this.#agg === 'rate') {
      group.increase({ from: Number(row.since), to: Number(row.until), by: Number(row.growth) });
      return;
    }
    group.add(Number(row.step), {
      count: Number(row.count),
      sum: Number(row.sum),
      min: Number(row.min),
      max: Number(row.max),
      last: Number(row.last),
      lastAt: Number(row.last_at),
      total: Number(row.total),
    });
  }

  /** @param isCut whether more rows exist than were added */
  result(isCut: boolean): { readonly series: readonly MetricSeries[]; readonly is_truncated: boolean } {
    const agg = this.#agg;
    return this.#groups.result((group) => (isQuantile(agg) ? [] : group.points(agg)), isCut);
  }
}
