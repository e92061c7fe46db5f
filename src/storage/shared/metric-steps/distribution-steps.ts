import type { JsonObject } from '../../../signal/attributes.js';
import { TEMPORALITIES } from '../../../signal/metric.js';
import { isQuantile, type MetricSeries, type MetricSeriesRequest } from '../../contracts/metrics.js';
import { BucketSums, distributionOf, since, type Distribution } from './bucket-sums.js';
import { SeriesGroups, stepsOf } from './series-groups.js';
import { startMs, StepValues, stepOf, type Steps } from './step-values.js';

type Row = Readonly<Record<string, unknown>>;

/** Read limits per result: the newest points, and characters of their JSON buckets. */
export const MOST_DISTRIBUTIONS = 20_000;
export const MOST_DISTRIBUTION_CHARACTERS = 32 * 1024 * 1024;

const SHARES = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
const DELTA = TEMPORALITIES.indexOf('delta');

/** A series of a result. */
interface Group {
  readonly values: StepValues;
  readonly buckets: Map<number, BucketSums>;
}

/** The previous point of a source. */
interface Before {
  readonly labels: string;
  readonly source: string;
  readonly at: number;
  /** When its counting began; null if unknown. */
  readonly began: number | null;
  readonly distribution: Distribution;
}

/** Computes the steps of histograms and summaries. */
export class DistributionSteps {
  readonly #request: MetricSeriesRequest;
  readonly #steps: Steps;
  readonly #groups: SeriesGroups<Group>;
  #before: Before | null = null;

  constructor(request: MetricSeriesRequest) {
    const steps = stepsOf(request);
    this.#request = request;
    this.#steps = steps;
    this.#groups = new SeriesGroups(request, () => ({ values: new StepValues(steps), buckets: new Map() }));
  }

  /**
   * Must be called with all points of a source consecutively, ordered by time.
   *
   * @param row `labels` and `distribution` as stored, `source`, `at` and `began` (or null) in microseconds, `temporality` as its code
   */
  add(row: Row): void {
    const [at, source, labels] = [Number(row.at), String(row.source), String(row.labels)];
    const { values, buckets } = this.#groups.of(labels);
    const steps = this.#steps;
    const began = row.began === null ? null : Number(row.began);
    const isDelta = row.temporality === DELTA;
    const now = distributionOf(JSON.parse(String(row.distribution)) as JsonObject, !isDelta);
    const last = this.#before;
    const before = last?.labels === labels && last.source === source ? last : null;
    // An unchanged start is not a reset, even if the previous point has the same time.
    const isReset =
      before === null ||
      now.count < before.distribution.count ||
      (began !== null && began >= before.at && began !== before.began);
    const came = isDelta || isReset ? now : since(before.distribution, now);
    const from = isDelta || isReset ? (began ?? (isDelta ? at : null)) : before.at;
    const step = stepOf(steps, at);
    if (from !== null) values.increase({ from: Math.min(from, at), to: at, by: came.count });
    // Without a previous point or a start within this step, the counts may be older than the step.
    const isOfStep = isDelta || before !== null || (began !== null && stepOf(steps, began) === step);
    if (at >= this.#request.start_time && isOfStep && came.count > 0) {
      const mean = came.sum === null ? NaN : came.sum / came.count;
      values.add(step, {
        count: came.count,
        sum: came.sum ?? NaN,
        min: came.min ?? came.buckets[0]?.low ?? mean,
        max: came.max ?? came.buckets.at(-1)?.high ?? mean,
        last: mean,
        lastAt: at,
        total: came.sum ?? NaN,
      });
      const sums = buckets.get(step) ?? new BucketSums();
      sums.add(came.buckets);
      buckets.set(step, sums);
    }
    this.#before = { labels, source, at, began, distribution: now };
  }

  /** @param isCut whether more points exist than were added */
  result(isCut: boolean): { readonly series: readonly MetricSeries[]; readonly is_truncated: boolean } {
    const { agg } = this.#request;
    return this.#groups.result(
      ({ values, buckets }) =>
        isQuantile(agg) ? quantiles(buckets, SHARES[agg], this.#steps) : values.points(agg),
      isCut,
    );
  }
}

function quantiles(
  buckets: ReadonlyMap<number, BucketSums>,
  share: number,
  steps: Steps,
): readonly (readonly [number, number])[] {
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .flatMap(([step, sums]): [number, number][] => {
      const value = step < 0 ? null : sums.quantile(share);
      return value === null ? [] : [[startMs(steps, step), value]];
    });
}
