import { itemAt } from '../../../signal/checked.js';

/** Fewer files are not worth a merge; with more files a lookup checks too many filters. */
const LEAST = 4;
const MOST = 8;
/** A merged file is at least this many times as large as its largest part, so that no id is written more than a few times. */
const GROWTH = 2.5;

/**
 * Selects the neighbouring files whose merge gives the smallest file.
 *
 * @param sizes of the files, oldest first
 * @returns the range of files to merge; null if there are few enough
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
