/** Fewer than these are not worth reading; with more of them a look-up asks too many filters. */
const LEAST = 4;
const MOST = 8;
/** How much larger than its largest part a merged run is, at least: so no id is written more than a few times. */
const GROWTH = 2.5;

/**
 * Which neighbours among runs are to be merged next: those that make the smallest run.
 *
 * @param sizes of the runs, oldest first @returns from where to where; null: there are few enough
 */
export function chooseMerge(sizes: readonly number[]): { readonly from: number; readonly to: number } | null {
  let best: { from: number; to: number; total: number } | null = null;
  for (let from = 0; from + LEAST <= sizes.length; from++) {
    let total = 0;
    let largest = 0;
    for (let to = from + 1; to <= Math.min(from + MOST, sizes.length); to++) {
      const size = sizes[to - 1] ?? 0;
      total += size;
      largest = Math.max(largest, size);
      if (to - from < LEAST || total < largest * GROWTH) continue;
      // Of windows that begin together a longer one saves a merge later.
      if (best === null || total < best.total || best.from === from) best = { from, to, total };
    }
  }
  return best === null ? null : { from: best.from, to: best.to };
}
