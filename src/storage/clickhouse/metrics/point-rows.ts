import { serializeJson } from '../../../signal/json.js';
import { METRIC_TYPES, TEMPORALITIES, type MetricPoint, type MetricStream } from '../../../signal/metric.js';
import type { Micros } from '../../../signal/time.js';
import type { RowOf } from '../../../worker/columns.js';
import { labelsText } from '../../shared/labels.js';
import type { POINT_WIRE } from '../../schema/tables.js';
import { dayOf } from '../tables/days.js';
import { SerializedOrigins } from '../tables/serialized-origins.js';
import type { MetricFacts } from './known-metrics.js';

/** A point as a row of `POINTS`, without the tenant, its place and the metric's metadata. */
interface PointRow extends Omit<RowOf<typeof POINT_WIRE>, 'value' | 'type'> {
  readonly day: number;
  /** JSON has no NaN and no infinities. */
  readonly value: number | string | null;
  readonly origin: string;
  readonly bytes: number;
}

/** The points of a batch, and their metrics. */
export interface PointRows {
  readonly rows: readonly PointRow[];
  /** For each point, its index in `metrics`. */
  readonly metricOf: readonly number[];
  readonly metrics: readonly MetricFacts[];
  /** Approximate size of the rows. */
  readonly bytes: number;
}

/** Approximate bytes of a row without its texts. */
const FIXED_BYTES = 300;
/** The points of a batch as rows. @param arrived arrival time */
export function pointRows(points: readonly MetricPoint[], arrived: Micros): PointRows {
  const metrics = new Map<MetricStream, number>();
  const origins = new SerializedOrigins();
  const metricOf: number[] = [];
  let bytes = 0;
  const rows = points.map((point): PointRow => {
    const { stream } = point;
    const known = metrics.get(stream);
    if (known === undefined) metrics.set(stream, metrics.size);
    metricOf.push(known ?? metrics.size - 1);
    const origin = origins.of(stream.origin);
    const labels = labelsText(point.labels);
    const distribution = point.distribution && JSON.stringify(point.distribution);
    const exemplars = point.exemplars && serializeJson(point.exemplars);
    const own = labels.length + (distribution?.length ?? 0) + (exemplars?.length ?? 0);
    bytes += FIXED_BYTES + own + origin.length + stream.description.length;
    return {
      day: dayOf(point.timestamp, arrived),
      temporality: stream.temporality === null ? null : TEMPORALITIES.indexOf(stream.temporality),
      is_monotonic: stream.is_monotonic,
      timestamp: point.timestamp,
      start_time: point.start_time,
      value: serializeValue(point.value),
      flags: point.flags,
      labels,
      distribution,
      exemplars,
      origin,
      bytes: own,
    };
  });
  return { rows, metricOf, metrics: [...metrics.keys()].map(factsOf), bytes };
}

function factsOf({ name, type, unit, description }: MetricStream): MetricFacts {
  return {
    name: name.toWellFormed(),
    type: METRIC_TYPES.indexOf(type),
    unit: unit.toWellFormed(),
    description: description.toWellFormed(),
  };
}

/** A double for a JSON value; NaN and infinities become text. */
export function serializeValue(value: number | null): number | string | null {
  if (value === null || Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
}
