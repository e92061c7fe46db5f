import type { JsonObject } from '../../signal/attributes.js';
import type { MetricsBatch } from '../../signal/batch.js';
import type { MetricPoint, MetricStream, MetricType, Temporality } from '../../signal/metric.js';
import type { Origin } from '../../signal/origin.js';
import type { Micros } from '../../signal/time.js';
import { doubleToJson, toJsonObject } from './any-value.js';
import { exponentialHistogram, histogram, summary } from './distributions.js';
import { spanUuid, traceUuid } from '../wire/ids.js';
import { int64ToNumber, nanosToMicros } from '../wire/int64.js';
import { originOf } from './origin.js';
import { labelsOf } from './point-labels.js';
import type {
  Exemplar,
  ExponentialHistogramPoint,
  HistogramPoint,
  Int64,
  Mapped,
  Metric,
  MetricsRequest,
  NumberPoint,
  SummaryPoint,
} from '../wire/requests.js';

/** `DataPointFlags`: the series has ended or was missing, so the point has no value. */
const NO_RECORDED_VALUE = 1;

/**
 * The points of an OTLP request. A point is rejected individually if its metric has no name, if it has no time or no value, or if its
 * buckets are inconsistent.
 */
export function metricsToPoints(
  request: MetricsRequest,
  options: { readonly tenant: string },
): Mapped<MetricsBatch> {
  const points = new PointReader();
  (request.resourceMetrics ?? []).forEach(({ resource, scopeMetrics }, r) => {
    (scopeMetrics ?? []).forEach(({ scope, metrics }, s) => {
      const origin = originOf(resource, scope);
      (metrics ?? []).forEach((metric, m) => {
        points.read(metric, origin, `/resourceMetrics/${r}/scopeMetrics/${s}/metrics/${m}`);
      });
    });
  });
  return { batch: { tenant: options.tenant, items: points.items }, rejected: points.rejected };
}

type AnyPoint = NumberPoint & HistogramPoint & ExponentialHistogramPoint & SummaryPoint;

/** The kind of points of a metric. */
interface Data {
  readonly type: MetricType;
  /** The name of the field that holds them. */
  readonly field: string;
  readonly points: readonly AnyPoint[];
  readonly temporality: Temporality | null;
  readonly isMonotonic: boolean | null;
}

class PointReader {
  readonly items: MetricPoint[] = [];
  readonly rejected: string[] = [];
  /** The label keys of one point, reused for sorting. */
  readonly #keys: string[] = [];

  /** @param place of the metric in the request, a JSON Pointer */
  read(metric: Metric, origin: Origin, place: string): void {
    const data = dataOf(metric);
    if (data === undefined) return;
    const name = (metric.name ?? '').toWellFormed();
    if (name === '') {
      data.points.forEach(() => this.rejected.push(`${place}/name: is missing`));
      return;
    }
    const stream: MetricStream = {
      name,
      type: data.type,
      unit: (metric.unit ?? '').toWellFormed(),
      description: (metric.description ?? '').toWellFormed(),
      temporality: data.temporality,
      is_monotonic: data.isMonotonic,
      origin,
    };
    for (let p = 0; p < data.points.length; p++) {
      const point = data.points[p];
      if (!point) continue;
      const problem = this.#read(point, stream);
      if (problem !== undefined) this.rejected.push(`${place}/${data.field}/dataPoints/${p}/${problem}`);
    }
  }

  /** @returns the error, beginning with the name of the field */
  #read(point: AnyPoint, stream: MetricStream): string | undefined {
    const timestamp = timeOf(point.timeUnixNano);
    if (timestamp === null) return 'timeUnixNano: is missing';
    if (timestamp === undefined) return 'timeUnixNano: must be a time before the year 2255';
    const flags = point.flags ?? 0;
    let value: number | null = null;
    let distribution: JsonObject | null = null;
    if ((flags & NO_RECORDED_VALUE) === 0) {
      if (stream.type === 'gauge' || stream.type === 'sum') {
        value = numberOf(point);
        if (value === null) return 'asDouble: is missing, and so is asInt';
      } else {
        const read = distributionOf(point, stream.type);
        if ('problem' in read) return `${read.field}: ${read.problem}`;
        value = read.mean;
        distribution = read.fields;
      }
    }
    const attributes = toJsonObject(point.attributes);
    this.items.push({
      stream,
      labels: labelsOf(attributes, stream.origin.serviceName, this.#keys),
      attributes,
      timestamp,
      start_time: timeOf(point.startTimeUnixNano) ?? null,
      value,
      flags,
      distribution,
      exemplars: point.exemplars?.length ? point.exemplars.map(exemplarOf) : null,
    });
    return undefined;
  }
}

function dataOf(metric: Metric): Data | undefined {
  const { gauge, sum, histogram, exponentialHistogram, summary } = metric;
  if (gauge) return data('gauge', 'gauge', gauge.dataPoints, null, null);
  if (sum) {
    const temporality = temporalityOf(sum.aggregationTemporality);
    return data('sum', 'sum', sum.dataPoints, temporality, sum.isMonotonic ?? false);
  }
  if (histogram) {
    const temporality = temporalityOf(histogram.aggregationTemporality);
    return data('histogram', 'histogram', histogram.dataPoints, temporality, null);
  }
  if (exponentialHistogram) {
    const { dataPoints, aggregationTemporality } = exponentialHistogram;
    const temporality = temporalityOf(aggregationTemporality);
    return data('exponential_histogram', 'exponentialHistogram', dataPoints, temporality, null);
  }
  return summary ? data('summary', 'summary', summary.dataPoints, null, null) : undefined;
}

function data(
  type: MetricType,
  field: string,
  points: readonly AnyPoint[] | null | undefined,
  temporality: Temporality | null,
  isMonotonic: boolean | null,
): Data {
  return { type, field, points: points ?? [], temporality, isMonotonic };
}

function temporalityOf(sent: number | null | undefined): Temporality | null {
  if (sent === 1) return 'delta';
  return sent === 2 ? 'cumulative' : null;
}

function distributionOf(point: AnyPoint, type: 'histogram' | 'exponential_histogram' | 'summary') {
  if (type === 'histogram') return histogram(point);
  return type === 'summary' ? summary(point) : exponentialHistogram(point);
}

/** @returns null if absent, which OTLP also writes as 0; undefined for an invalid time */
function timeOf(nanos: Int64 | null | undefined): Micros | null | undefined {
  if (nanos === null || nanos === undefined) return null;
  const micros = nanosToMicros(nanos);
  return micros === 0 && int64ToNumber(nanos) === 0 ? null : micros;
}

function numberOf({ asDouble, asInt }: NumberPoint): number | null {
  if (typeof asDouble === 'number') return asDouble;
  return asInt === null || asInt === undefined ? null : int64ToNumber(asInt);
}

function exemplarOf(exemplar: Exemplar): JsonObject {
  const traceId = traceUuid(exemplar.traceId) ?? null;
  const value = numberOf(exemplar);
  return {
    timestamp: timeOf(exemplar.timeUnixNano) ?? null,
    value: value === null ? null : doubleToJson(value),
    trace_id: traceId,
    span_id: (traceId === null ? undefined : spanUuid(traceId, exemplar.spanId)) ?? null,
    filtered_attributes: toJsonObject(exemplar.filteredAttributes),
  };
}
