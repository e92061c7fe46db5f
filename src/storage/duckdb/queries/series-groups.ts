import type { Micros } from '../../../signal/time.js';
import { MOST_METRIC_SERIES, type MetricSeries, type MetricSeriesRequest } from '../../metric-series.js';
import { ORIGINS } from '../../tables.js';
import type { Parameter } from '../files/connection.js';
import { printLabels } from '../../labels.js';
import type { Stream } from '../metrics/metric-streams.js';
import type { Steps } from '../metrics/step-values.js';
import { relation } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { conditions } from './metrics.js';

/** Cumulative points are counted from the one before, which is looked for so far back at least, in microseconds. */
const LEAST_LOOK_BACK = 300_000_000;

export type Labels = Readonly<Record<string, string>>;

/** The steps of a request, from the beginning of the first. */
export function stepsOf({ start_time, end_time, step }: MetricSeriesRequest): Steps {
  const first = Math.floor(start_time / step) * step;
  return { first, width: step, count: Math.ceil((end_time - first) / step), end: end_time };
}

/** The condition for the points of a request, and of the time in which the point before the first of them is looked for. */
export function pointsWanted(
  stream: Stream,
  { labels, start_time, end_time, step }: MetricSeriesRequest,
): { readonly sql: string; readonly values: Parameter[]; readonly from: Micros } {
  const from = Math.max(start_time - Math.max(step, LEAST_LOOK_BACK), Number.MIN_SAFE_INTEGER);
  return { ...conditions(stream, { labels, start_time: from, end_time: end_time - 1 }), from };
}

/**
 * Which sources points came from, as a relation of `origin_no` and `source`: one origin may have several numbers.
 *
 * @param points a relation with `origin_no`
 */
export function sourcesOf(capture: Capture, points: string): string {
  return `(SELECT origin_no, min(origin_no) OVER (PARTITION BY origin) AS source
    FROM ${relation(capture, ORIGINS)} WHERE origin_no IN (SELECT origin_no FROM ${points}))`;
}

/** What is put together by the labels that a request groups by. */
export class SeriesGroups<Group> {
  readonly #groupBy: readonly string[] | undefined;
  readonly #make: () => Group;
  readonly #byText = new Map<string, { readonly labels: Labels; readonly group: Group }>();
  readonly #byKey = new Map<string, { readonly labels: Labels; readonly group: Group }>();

  constructor({ group_by }: MetricSeriesRequest, make: () => Group) {
    this.#groupBy = group_by;
    this.#make = make;
  }

  /** @param text labels as they are stored */
  of(text: string): Group {
    const known = this.#byText.get(text);
    if (known !== undefined) return known.group;
    const all = JSON.parse(printLabels(text)) as Labels;
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

  /** The series of an answer: where there are too many, those with the largest values. */
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
