import type { Micros } from '../../../signal/time.js';
import type { MetricLabel } from '../../contracts/metrics.js';
import { labelsIn, MOST_LABEL_SETS } from '../../shared/metric-steps/label-lists.js';
import { POINTS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { Stream } from '../write/metric-streams.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { conditions } from './metrics.js';

/** The labels that points at or after a time have. */
export async function readMetricLabels(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  since: Micros,
): Promise<MetricLabel[]> {
  const { sql, values } = conditions(stream, { start_time: since });
  const rows = await connection.rows(
    `SELECT labels FROM ${relation(capture, POINTS, sql)} GROUP BY labels ORDER BY labels LIMIT ${MOST_LABEL_SETS + 1}`,
    values,
  );
  return labelsIn(rows.map(({ labels }) => String(labels)));
}
