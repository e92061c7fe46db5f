import type { RunSeries, SeriesBucket } from '../contracts/runs.js';

/**
 * The groups of a series by model: those with most calls first, then by name; all other models, marked by null, are last.
 *
 * @param groups buckets by model
 */
export function seriesOfModels(groups: ReadonlyMap<string | null, readonly SeriesBucket[]>): RunSeries[] {
  return [...groups]
    .map(([model, buckets]) => ({ model, buckets, calls: buckets.reduce((sum, { runs }) => sum + runs, 0) }))
    .sort((a, b) => {
      if (a.model === null || b.model === null) return Number(a.model === null) - Number(b.model === null);
      return b.calls - a.calls || (a.model < b.model ? -1 : 1);
    })
    .map(({ model, buckets }) => ({ agent: null, status: null, model, total: null, buckets }));
}
