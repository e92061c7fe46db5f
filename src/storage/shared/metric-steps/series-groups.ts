import type { Micros } from '../../../signal/time.js';
import { serializeLabels } from '../labels.js';
import { type MetricSeries, type MetricSeriesRequest, MOST_METRIC_SERIES } from '../../contracts/metrics.js';
import type { Steps } from './step-values.js';

/** Minimum look-back, in microseconds, for the previous point of a cumulative series. */
const LEAST_LOOK_BACK = 300_000_000;

type Labels = Readonly<Record<string, string>>;

/** The steps of a request, from the beginning of the first. */
export function stepsOf({ start_time, end_time, step }: MetricSeriesRequest): Steps {
  const first = Math.floor(start_time / step) * step;
  return { first, width: step, count: Math.ceil((end_time - first) / step), end: end_time };
}

/** The earliest time of points that a request needs, including the look-back for the point before its first one. */
export function neededFrom({ start_time, step }: MetricSeriesRequest): Micros {
  return Math.max(start_time - Math.max(step, LEAST_LOOK_BACK), Number.MIN_SAFE_INTEGER);
}

/** Series combined by the requested labels. */
export class SeriesGroups<Group> {
  readonly #groupBy: readonly string[] | undefined;
  readonly #make: () => Group;
  readonly #byText = new Map<string, { readonly labels: Labels; readonly group: Group }>();
  readonly #byKey = new Map<string, { readonly labels: Labels; readonly group: Group }>();

  constructor({ group_by }: MetricSeriesRequest, make: () => Group) {
    this.#groupBy = group_by;
    this.#make = make;
  }

  /** @param text stored labels */
  of(text: string): Group {
    const known = this.#byText.get(text);
    if (known !== undefined) return known.group;
    const all = JSON.parse(serializeLabels(text)) as Labels;
    const labels =
      this.#groupBy === undefined
        ? all
        : Object.fromEntries(
            this.#groupBy.flatMap((key) => (Object.hasOwn(all, key) ? [[key, all[key] ?? '']] : [])),
          );
    const key = JSON.stringify(labels);
    const found = this.#byKey.get(key) ?? { labels, group: this.#make() };
    this.#byKey.set(key, found);
    this.#byText.set(text, found);
    return found.group;
  }

  /** The series of a result: if there are too many, those with the largest values. */
  result(
    pointsOf: (group: Group) => MetricSeries['points'],
    isCut: boolean,
  ): { readonly series: MetricSeries[]; readonly is_truncated: boolean } {
    const all = [...this.#byKey.values()]
      .map(({ labels, group }) => ({ labels, points: pointsOf(group) }))
      .filter(({ points }) => points.length > 0);
    const largest = all
      .map((series) => ({ series, size: series.points.reduce((sum, [, value]) => sum + Math.abs(value), 0) }))
      .sort((a, b) => b.size - a.size)
      .slice(0, MOST_METRIC_SERIES)
      .map(({ series }) => series);
    return {
      series: largest.sort((a, b) => (JSON.stringify(a.labels) < JSON.stringify(b.labels) ? -1 : 1)),
      is_truncated: isCut || all.length > MOST_METRIC_SERIES,
    };
  }
}
