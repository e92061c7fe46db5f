import type { Micros } from '../../src/signal/time.js';
import type { DueRequest } from '../../src/storage/alert-notices.js';

/** Asks for what is due by a time. @param most of each channel, whosever they are */
export function dueBy(now: Micros, most: number, held: DueRequest['held'] = []): DueRequest {
  const places = { all: held.length + most, perUser: held.length + most };
  return { now, held, places: { email: places, webhook: places } };
}
