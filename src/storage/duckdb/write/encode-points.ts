import type { MetricsBatch } from '../../../signal/batch.js';
import { METRIC_TYPES, TEMPORALITIES, type MetricPoint, type MetricStream } from '../../../signal/metric.js';
import type { Origin } from '../../../signal/origin.js';
import { ColumnsWriter, encodeRows } from '../../../worker/columns-writer.js';
import { transferables, type Column, type ColumnsMessage } from '../../../worker/columns.js';
import { TextScratch } from '../../../worker/text-scratch.js';
import { indexOf } from '../../schema/table.js';
import { METRIC_STREAMS, POINT_WIRE } from '../../schema/tables.js';
import type { BatchName } from '../../shared/batch-name.js';
import type { Charge } from '../../incoming/encode-traces.js';
import { encodeOrigins } from './origin-message.js';
import { SharedParts } from './shared-parts.js';
import { labelsText } from '../../shared/labels.js';
import { serializeJson } from '../../../signal/json.js';

/** A point as sent to the store thread: its columns, and the positions of its stream and its origin in the message. */
export const POINT_MESSAGE: readonly Column[] = [
  ...POINT_WIRE,
  { name: 'stream', kind: 'uint32', sql: 'UINTEGER' },
  { name: 'origin', kind: 'uint32', sql: 'UINTEGER' },
];
/** Without the number, which the store assigns. */
export const STREAM_MESSAGE = METRIC_STREAMS.wire.slice(1);

/** A batch of metric points, in order, before its tenant is resolved. */
export interface EncodedPoints {
  readonly points: ColumnsMessage;
  readonly streams: ColumnsMessage;
  readonly origins: ColumnsMessage;
}

/** A batch in the format of messages to the store thread. */
export interface PointsMessage extends EncodedPoints {
  readonly tenant: number;
  /** Present if the batch counts towards a quota. */
  readonly counted?: Charge;
  /** Present if the sender named the batch. */
  readonly name?: BatchName;
}

const C = {
  type: indexOf(POINT_MESSAGE, 'type'),
  temporality: indexOf(POINT_MESSAGE, 'temporality'),
  is_monotonic: indexOf(POINT_MESSAGE, 'is_monotonic'),
  timestamp: indexOf(POINT_MESSAGE, 'timestamp'),
  start_time: indexOf(POINT_MESSAGE, 'start_time'),
  value: indexOf(POINT_MESSAGE, 'value'),
  flags: indexOf(POINT_MESSAGE, 'flags'),
  labels: indexOf(POINT_MESSAGE, 'labels'),
  distribution: indexOf(POINT_MESSAGE, 'distribution'),
  exemplars: indexOf(POINT_MESSAGE, 'exemplars'),
  stream: indexOf(POINT_MESSAGE, 'stream'),
  origin: indexOf(POINT_MESSAGE, 'origin'),
};

/** Encodes batches of points as columns. Keeps scratch memory: create one per thread. */
export class PointsEncoder {
  readonly #text = new TextScratch();

  encode(batch: Pick<MetricsBatch, 'items'>): EncodedPoints {
    const points = new ColumnsWriter(POINT_MESSAGE, batch.items.length, this.#text);
    // Points of one metric share their stream, and those of one resource and scope their origin.
    const streams = new SharedParts<MetricStream>();
    const origins = new SharedParts<Origin>();
    batch.items.forEach((point, row) => {
      const { stream } = point;
      writePoint(points, row, point);
      points.uint32(C.stream, row, streams.positionOf(stream));
      points.uint32(C.origin, row, origins.positionOf(stream.origin));
    });
    return {
      points: points.finish(),
      streams: encodeRows(
        STREAM_MESSAGE,
        streams.parts.map(({ name, type, unit, description }) => ({
          name,
          type: METRIC_TYPES.indexOf(type),
          unit,
          description,
        })),
      ),
      origins: encodeOrigins(origins.parts),
    };
  }
}

export function transferablesOf({ points, streams, origins }: EncodedPoints): ArrayBuffer[] {
  return [points, streams, origins].flatMap(transferables);
}

function writePoint(to: ColumnsWriter, row: number, point: MetricPoint): void {
  const { type, temporality, is_monotonic } = point.stream;
  to.byte(C.type, row, METRIC_TYPES.indexOf(type));
  if (temporality === null) to.isNull(C.temporality, row);
  else to.byte(C.temporality, row, TEMPORALITIES.indexOf(temporality));
  if (is_monotonic === null) to.isNull(C.is_monotonic, row);
  else to.byte(C.is_monotonic, row, is_monotonic ? 1 : 0);
  to.int64(C.timestamp, row, point.timestamp);
  if (point.start_time === null) to.isNull(C.start_time, row);
  else to.int64(C.start_time, row, point.start_time);
  if (point.value === null) to.isNull(C.value, row);
  else to.float64(C.value, row, point.value);
  to.uint32(C.flags, row, point.flags);
  to.text(C.labels, row, labelsText(point.labels));
  if (point.distribution === null) to.isNull(C.distribution, row);
  else to.text(C.distribution, row, JSON.stringify(point.distribution));
  if (point.exemplars === null) to.isNull(C.exemplars, row);
  else to.text(C.exemplars, row, serializeJson(point.exemplars));
}
