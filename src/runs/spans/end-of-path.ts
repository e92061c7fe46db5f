import { intAt } from '../../signal/checked.js';

/**
 * Where the path from a row ends, which may be the row itself: the row that leads to itself. The path is made shorter on the way, so
 * that many walks along it cost about as much as one.
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
