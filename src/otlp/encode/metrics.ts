import type { MetricsBatch } from '../../signal/batch.js';
import type { MetricPoint, MetricStream } from '../../signal/metric.js';
import { OriginGroups } from './origin.js';
import { encodePoint, type EncodedPoint } from './point.js';
import type { Metric, MetricsRequest } from '../wire/requests.js';

interface Stream {
  readonly stream: MetricStream;
  readonly points: EncodedPoint[];
}

/**
 * Metric points as an OTLP request, from which `metricsToPoints` restores them. All numbers are sent as doubles, as points hold
 * them: a series must not alternate between integers and doubles.
 */
export function encodeMetrics(batch: MetricsBatch): MetricsRequest {
  const groups = new OriginGroups<Stream>();
  const streams = new Map<MetricStream, Stream>();
  for (const point of batch.items) pointsOf(point, streams, groups).push(encodePoint(point));
  return {
    resourceMetrics: groups.groups.map(({ resource, scopes }) => ({
      resource,
      scopeMetrics: scopes.map(({ scope, items }) => ({ scope, metrics: items.map(encodeStream) })),
    })),
  };
}

function pointsOf(
  { stream }: MetricPoint,
  streams: Map<MetricStream, Stream>,
  groups: OriginGroups<Stream>,
): EncodedPoint[] {
  const known = streams.get(stream);
  if (known) return known.points;
  const made: Stream = { stream, points: [] };
  streams.set(stream, made);
  groups.itemsOf(stream.origin.resource, stream.origin.scope).push(made);
  return made.points;
}

function encodeStream({ stream, points: dataPoints }: Stream): Metric {
  const { name, unit, description, type, temporality } = stream;
  const about = { name, unit, description };
  const aggregationTemporality = temporality === null ? 0 : temporality === 'delta' ? 1 : 2;
  switch (type) {
    case 'gauge':
      return { ...about, gauge: { dataPoints } };
    case 'sum':
      return {
        ...about,
        sum: { dataPoints, aggregationTemporality, isMonotonic: stream.is_monotonic ?? false },
      };
    case 'histogram':
      return { ...about, histogram: { dataPoints, aggregationTemporality } };
    case 'exponential_histogram':
      return { ...about, exponentialHistogram: { dataPoints, aggregationTemporality } };
    case 'summary':
      return { ...about, summary: { dataPoints } };
  }
}
