import type { EventPageLimit } from '../../contracts/events.js';

/** How many events, whose bodies have these lengths, fit on one page. */
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
