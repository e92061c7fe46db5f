import { intAt } from '../../signal/checked.js';

/**
 * The end of the path from a row: the row that leads to itself. Compresses the path, so that repeated lookups are cheap.
 *
 * @param up where each row leads
 */
export function endOfPath(up: Int32Array, row: number): number {
  let end = row;
  while (up[end] !== end) end = intAt(up, end);
  for (let at = row; at !== end;) {
    const above = intAt(up, at);
    up[at] = end;
    at = above;
  }
  return end;
}
