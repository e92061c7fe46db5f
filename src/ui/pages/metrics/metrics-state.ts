import { oneOf, text, type StateOf } from '../../state/codec.js';
import { rangeField } from '../../state/range.js';

const AGGREGATIONS = ['avg', 'sum', 'min', 'max', 'last', 'rate', 'p50', 'p95', 'p99'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** What the URL of the page says. */
export const METRICS_STATE = {
  /** The metric that is shown; empty: the list. */
  m: text(),
  q: text(),
  range: rangeField('24h'),
  /** Empty: what suits the type. */
  agg: oneOf(['', ...AGGREGATIONS], ''),
  /** A key of labels; empty: each series by itself, `*`: all of it as one. */
  by: text(),
  /** Pairs that points have, as JSON. */
  where: text(),
};

export type MetricsState = StateOf<typeof METRICS_STATE>;
export type MetricType = 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';

const OF_HISTOGRAMS = ['p95', 'p50', 'p99', 'avg', 'min', 'max', 'rate', 'sum'] as const;

/** What can be asked of each type, the most telling first. */
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

/** What is asked for: what the link says, where the type has it. */
export function aggregationOf(type: MetricType, asked: MetricsState['agg']): Aggregation {
  const suited = SUITED[type];
  return suited.find((each) => each === asked) ?? suited[0] ?? 'avg';
}

/** @returns the pairs that a link says; none where it cannot be read */
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

/** The same as a link says it. */
export function printPairs(pairs: Readonly<Record<string, string>>): string {
  return Object.keys(pairs).length === 0 ? '' : JSON.stringify(pairs);
}

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly number[])[];
}

/** The beginnings of all steps in milliseconds, also of those of which nothing is known. */
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

/** A value for each time; null where nothing is known. */
export function valuesOf(times: readonly number[], { points }: Series): readonly (number | null)[] {
  const known = new Map(points.map(([ms, value]) => [ms, value]));
  return times.map((time) => known.get(time) ?? null);
}

/** What tells series from each other: labels that all have alike are left out. */
export function namesOf(series: readonly Series[]): readonly string[] {
  const [first] = series;
  const isSame = (key: string): boolean => series.every(({ labels }) => labels[key] === first?.labels[key]);
  return series.map(({ labels }) => {
    const telling = Object.entries(labels).filter(([key]) => series.length === 1 || !isSame(key));
    return telling.length === 0 ? 'all' : telling.map(([key, value]) => `${key}=${value}`).join(' ');
  });
}
