import type { Micros } from '../../src/signal/time.js';
import type { NoticeRequest } from '../../src/storage/contracts/alerts.js';

/** Claims the notices due by a time. @param most maximum per channel, over all users */
export function dueBy(now: Micros, most: number): NoticeRequest {
  const each = { email: most, webhook: most };
  return { now, free: each, perUser: each, perHost: 1e6, leaseMs: 60_000 };
}
