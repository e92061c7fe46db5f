import type { Observing, SeriesPoint } from '../../alert-store.js';
import { POINTS } from '../../tables.js';
import type { Connection } from '../database.js';
import { parseLabels } from '../metrics/labels.js';
import { relation } from '../relation.js';
import type { Capture } from '../segments.js';

/** The newest point of each series of some metrics, by the number of their stream; in the order of the labels. */
export async function newestPoints(
  connection: Connection,
  capture: Capture,
  streams: readonly number[],
  { pointsStart, now }: Pick<Observing, 'pointsStart' | 'now'>,
): Promise<Map<number, SeriesPoint[]>> {
  const found = new Map<number, SeriesPoint[]>(streams.map((stream) => [stream, []]));
  if (streams.length === 0) return found;
  const where = `stream_no IN (${[...found.keys()].join(', ')}) AND timestamp > make_timestamp(${pointsStart}) AND timestamp <= make_timestamp(${now}) AND isfinite(value)`;
  // Structs are compared by their fields in this order: of the same time, what came last counts.
  const rows = await connection.rows(
    `SELECT stream_no, labels, epoch_us(newest.at) AS at, newest.seq AS seq, newest.value AS value
     FROM (SELECT stream_no, labels, max({'at': timestamp, 'seq': seq, 'value': value}) AS newest
       FROM ${relation(capture, POINTS, where)} GROUP BY stream_no, labels)
     ORDER BY stream_no, labels`,
  );
  for (const { stream_no, labels, at, seq, value } of rows) {
    found.get(Number(stream_no))?.push({
      labels: parseLabels(String(labels)),
      timestamp: Number(at),
      value: Number(value),
      seq: Number(seq),
    });
  }
  return found;
}
