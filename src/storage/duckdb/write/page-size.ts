import type { EventPageLimit } from '../../contracts/events.js';

/** Number of events, given the lengths of their bodies, that fit on one page. */
export function pageSize(bytes: readonly number[], limit: EventPageLimit): number {
  let sum = 0;
  let count = 0;
  for (const more of bytes.slice(0, limit.events)) {
    sum += count === 0 ? 0 : more;
    if (sum > limit.bytes) break;
    count++;
  }
  return count;
}
