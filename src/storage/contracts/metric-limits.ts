import type { MetricStream } from '../../signal/metric.js';

/** Metrics of one user: senders choose their names, and all of them are in memory. */
export const MOST_METRICS = 20_000;

/**
 * How many characters the names, units and descriptions of one user's metrics may have: senders choose them, and all are in
 * memory.
 */
export const MOST_METRIC_CHARACTERS = 16 * 1024 * 1024;

/** Why a point is refused whose user has no room for its metric. */
export const TOO_MANY_METRICS = `/stream/name: exceeds the limit of ${MOST_METRICS} metrics per user (fewer with very long names and descriptions)`;

export function charactersOfMetric({
  name,
  unit,
  description,
}: Pick<MetricStream, 'name' | 'unit' | 'description'>): number {
  return name.length + unit.length + description.length;
}
