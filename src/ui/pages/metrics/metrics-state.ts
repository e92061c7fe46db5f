import { oneOf, text, type StateOf } from '../../state/codec.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';

const AGGREGATIONS = ['avg', 'sum', 'min', 'max', 'last', 'rate', 'p50', 'p95', 'p99'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** URL state of the page. */
export const METRICS_STATE = {
  /** The metric shown; empty for the list. */
  m: text(),
  q: text(),
  range: rangeField(PAGE_RANGES['/explore/metrics'], true),
  /** Empty for the default of the type. */
  agg: oneOf(['', ...AGGREGATIONS], ''),
  /** A label key to group by; empty for single series, `*` for one total. */
  by: text(),
  /** Label filters as JSON. */
  where: text(),
};

export type MetricsState = StateOf<typeof METRICS_STATE>;
export type MetricType = 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';

const OF_HISTOGRAMS = ['p95', 'p50', 'p99', 'avg', 'min', 'max', 'rate', 'sum'] as const;

/** Aggregations by metric type, the most useful first. */
export const SUITED: Readonly<Record<MetricType, readonly Aggregation[]>> = {
  gauge: ['avg', 'min', 'max', 'last', 'sum'],
  sum: ['rate', 'sum', 'last', 'avg', 'min', 'max'],
  histogram: OF_HISTOGRAMS,
  exponential_histogram: OF_HISTOGRAMS,
  summary: ['avg', 'rate', 'sum'],
};

export const AGGREGATION_NAMES: Readonly<Record<Aggregation, string>> = {
  avg: 'Average',
  sum: 'Sum',
  min: 'Min',
  max: 'Max',
  last: 'Last',
  rate: 'Rate per second',
  p50: 'p50',
  p95: 'p95',
  p99: 'p99',
};

/** The requested aggregation if the type supports it, otherwise the default. */
export function aggregationOf(type: MetricType, requested: MetricsState['agg']): Aggregation {
  const suited = SUITED[type];
  return suited.find((each) => each === requested) ?? suited[0] ?? 'avg';
}

/** @returns the label filters of a link; none if invalid */
export function pairsOf(where: string): Readonly<Record<string, string>> {
  try {
    const pairs: unknown = JSON.parse(where);
    if (typeof pairs !== 'object' || pairs === null || Array.isArray(pairs)) return {};
    return Object.fromEntries(
      Object.entries(pairs).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
    );
  } catch {
    return {};
  }
}

/** Label filters as a link value. */
export function printPairs(pairs: Readonly<Record<string, string>>): string {
  return Object.keys(pairs).length === 0 ? '' : JSON.stringify(pairs);
}

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly number[])[];
}

/** The starts of all steps in milliseconds, including empty ones. */
export function stepTimes(answer: {
  readonly step: number;
  readonly start_time: string;
  readonly end_time: string;
}): readonly number[] {
  const width = answer.step * 1000;
  const first = Math.floor(Date.parse(answer.start_time) / width);
  const count = Math.max(0, Math.ceil(Date.parse(answer.end_time) / width) - first);
  return Array.from({ length: count }, (_, at) => (first + at) * width);
}

/** One value per time; null if unknown. */
export function valuesOf(times: readonly number[], { points }: Series): readonly (number | null)[] {
  const known = new Map(points.map(([ms, value]) => [ms, value]));
  return times.map((time) => known.get(time) ?? null);
}

/** Distinguishing names of series, without the labels that all share. */
export function namesOf(series: readonly Series[]): readonly string[] {
  const [first] = series;
  const isSame = (key: string): boolean => series.every(({ labels }) => labels[key] === first?.labels[key]);
  return series.map(({ labels }) => {
    const distinguishing = Object.entries(labels).filter(([key]) => series.length === 1 || !isSame(key));
    return distinguishing.length === 0
      ? 'all'
      : distinguishing.map(([key, value]) => `${key}=${value}`).join(' ');
  });
}
