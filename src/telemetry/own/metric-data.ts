import { ValueType, type Attributes, type HrTime } from '@opentelemetry/api';
import { millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { PrometheusMeter } from '../meter.js';

type Collected = Awaited<ReturnType<PrometheusMeter['collect']>>[number];
type Sample = Collected['values'][number] & { readonly metricName?: string };

/** Units by the ends of names. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/_seconds(_total)?$/, 's'],
  [/_bytes(_total)?$/, 'By'],
];

/** The metrics of `/metrics` for the SDK. Sums and histograms are cumulative since the start of the process. */
export function metricProducer(meter: PrometheusMeter, scope: InstrumentationScope): MetricProducer {
  const startTime = millisToHrTime(performance.timeOrigin);
  return {
    async collect(): Promise<CollectionResult> {
      const endTime = millisToHrTime(Date.now());
      const metrics = (await meter.collect()).flatMap((metric) => convert(metric, { startTime, endTime }));
      // The reader adds its own resource.
      return {
        resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] },
        errors: [],
      };
    },
  };
}

interface Times {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** @returns nothing for a metric without series, and for summaries, which the daemon does not have */
function convert({ name, help, type, values }: Collected, times: Times): readonly MetricData[] {
  if (values.length === 0) return [];
  const descriptor = { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE };
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const points = (): DataPoint<number>[] =>
    values.map(({ labels, value }) => ({ ...times, attributes: textsOf(labels), value }));
  // prom-client declares an enumeration, and has its texts.
  switch (String(type)) {
    case 'counter':
      return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }];
    case 'gauge':
      return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() }];
    case 'histogram':
      return [
        { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(name, values, times) },
      ];
    default:
      return [];
  }
}

function unitOf(name: string): string {
  return UNITS.find(([end]) => end.test(name))?.[1] ?? '1';
}

function textsOf(labels: Sample['labels']): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}

/** One series of a histogram, as it is collected. */
interface Series {
  readonly attributes: Attributes;
  readonly boundaries: number[];
  /** Cumulative, as in Prometheus. */
  readonly upTo: number[];
  sum: number;
  count: number;
}

function histograms(name: string, values: readonly Sample[], times: Times): DataPoint<Histogram>[] {
  const bySeries = new Map<string, Series>();
  for (const { labels, value, metricName } of values) {
    const { le, ...own } = labels as Record<string, string | number>;
    const key = JSON.stringify(own);
    let series = bySeries.get(key);
    if (series === undefined) {
      series = { attributes: textsOf(own), boundaries: [], upTo: [], sum: 0, count: 0 };
      bySeries.set(key, series);
    }
    if (metricName === `${name}_sum`) series.sum = value;
    else if (metricName === `${name}_count`) series.count = value;
    else if (le !== '+Inf') {
      series.boundaries.push(Number(le));
      series.upTo.push(value);
    }
  }
  return [...bySeries.values()].map(({ attributes, boundaries, upTo, sum, count }) => ({
    ...times,
    attributes,
    value: { sum, count, buckets: { boundaries, counts: countsOf([...upTo, count]) } },
  }));
}

/** Counts of single buckets from cumulative ones. */
function countsOf(upTo: readonly number[]): number[] {
  return upTo.map((value, index) => value - (upTo[index - 1] ?? 0));
}
