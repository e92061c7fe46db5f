import { serializeLabels, type LabelsText } from '../labels.js';
import { type MetricLabel, MOST_LABEL_KEYS, MOST_LABEL_VALUES } from '../../contracts/metrics.js';

/** Maximum number of label sets read for a list. */
export const MOST_LABEL_SETS = 10_000;

/** The labels of some sets, by key. @param sets at most one more than {@link MOST_LABEL_SETS}, to signal that more exist */
export function labelsIn(sets: readonly LabelsText[]): MetricLabel[] {
  const isCut = sets.length > MOST_LABEL_SETS;
  const found = new Map<string, Set<string>>();
  for (const labels of sets) {
    const pairs = JSON.parse(serializeLabels(labels)) as Readonly<Record<string, string>>;
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
