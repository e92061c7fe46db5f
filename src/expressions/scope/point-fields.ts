import { METRIC_TYPES, TEMPORALITIES, type MetricPoint } from '../../signal/metric.js';
import {
  maybeFlag,
  maybeNumber,
  maybeObject,
  maybeText,
  maybeTime,
  maybeWord,
  text,
  time,
  word,
  type Field,
  type Fields,
} from './field.js';

const labels: Field<MetricPoint> = {
  ...maybeObject<MetricPoint>('values as texts', (point) => point.labels),
  isOptional: false,
};

/** Fields of a metric point for expressions. */
export const POINT_FIELDS = {
  name: text('of the metric', ({ stream }) => stream.name),
  type: word('of the metric', METRIC_TYPES, ({ stream }) => stream.type),
  unit: maybeText('', ({ stream }) => stream.unit || null),
  description: maybeText('', ({ stream }) => stream.description || null),
  temporality: maybeWord('of sums and histograms', TEMPORALITIES, ({ stream }) => stream.temporality),
  is_monotonic: maybeFlag('of sums', ({ stream }) => stream.is_monotonic),
  service_name: maybeText('', ({ stream }) => stream.origin.serviceName || null),
  timestamp: time('', (point) => point.timestamp),
  start_time: maybeTime('', (point) => point.start_time),
  value: maybeNumber('of histograms the mean', (point) => point.value),
  labels,
  attributes: maybeObject('with their types', (point) => point.attributes),
} as const satisfies Fields<MetricPoint>;
