import { itemAt } from '../../../signal/checked.js';

/** Fewer files are not worth reading; with more of them a look-up asks too many filters. */
const LEAST = 4;
const MOST = 8;
/** By what factor a merged file is at least larger than its largest part, so that no id is written more than a few times. */
const GROWTH = 2.5;

/**
 * Which neighbouring files to merge next: those that make the smallest one.
 *
 * @param sizes of the files, oldest first
 * @returns from where to where; null where there are few enough
 */
export function chooseMerge(sizes: readonly number[]): { readonly from: number; readonly to: number } | null {
  let best: { from: number; to: number; total: number } | null = null;
  for (let from = 0; from + LEAST <= sizes.length; from++) {
    let total = 0;
    let largest = 0;
    for (let to = from + 1; to <= Math.min(from + MOST, sizes.length); to++) {
      const size = itemAt(sizes, to - 1);
      total += size;
      largest = Math.max(largest, size);
      if (to - from < LEAST || total < largest * GROWTH) continue;
      // Among windows that begin together, a longer one saves a merge later.
      if (best === null || total < best.total || best.from === from) best = { from, to, total };
    }
  }
  return best === null ? null : { from: best.from, to: best.to };
}
