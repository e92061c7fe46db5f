import type { Micros } from '../../../signal/time.js';
import { MOST_LABEL_KEYS, MOST_LABEL_VALUES, type MetricLabel } from '../../metric-series.js';
import { POINTS } from '../../tables.js';
import type { Connection } from '../files/connection.js';
import { printLabels } from '../../labels.js';
import type { Stream } from '../metrics/metric-streams.js';
import { relation } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { conditions } from './metrics.js';

/** Sets of labels that are read. */
const MOST_SETS = 10_000;

/** The labels that points at or after a time have. */
export async function readMetricLabels(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  since: Micros,
): Promise<MetricLabel[]> {
  const { sql, values } = conditions(stream, { start_time: since });
  const rows = await connection.rows(
    `SELECT labels FROM ${relation(capture, POINTS, sql)} GROUP BY labels ORDER BY labels LIMIT ${MOST_SETS + 1}`,
    values,
  );
  const isCut = rows.length > MOST_SETS;
  const found = new Map<string, Set<string>>();
  for (const { labels } of rows) {
    const pairs = JSON.parse(printLabels(String(labels))) as Readonly<Record<string, string>>;
    for (const [key, value] of Object.entries(pairs)) {
      const known = found.get(key);
      if (known !== undefined) known.add(value);
      else found.set(key, new Set([value]));
    }
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MOST_LABEL_KEYS)
    .map(([key, all]) => ({
      key,
      values: [...all].sort().slice(0, MOST_LABEL_VALUES),
      is_truncated: isCut || all.size > MOST_LABEL_VALUES,
    }));
}
