import { itemAt } from '../../signal/checked.js';
import type { Random } from './random.js';

/** When an agent is busy. All times are UTC. */
export type Rhythm = 'office' | 'evening' | 'nightly' | 'steady';

/** How busy each hour of a working day is, relative to the others. */
const HOURS: Readonly<Record<Rhythm, readonly number[]>> = {
  office: [1, 1, 1, 1, 2, 4, 9, 18, 30, 38, 40, 34, 26, 34, 40, 36, 28, 18, 10, 6, 4, 3, 2, 1],
  evening: [8, 4, 2, 1, 1, 1, 2, 4, 6, 8, 9, 11, 13, 12, 11, 12, 15, 21, 29, 36, 38, 33, 24, 14],
  nightly: [30, 40, 40, 30, 16, 6, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 5, 6, 8, 14, 22],
  steady: [8, 8, 7, 7, 7, 8, 9, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11, 10, 10, 10, 9, 9, 9, 8],
};
/** Sunday first, as `Date.getUTCDay` counts. */
const WEEKDAYS = [0.4, 1.25, 1.3, 1.3, 1.2, 1.1, 0.45];

/** How many runs a day sees, for so many on an average day. @param dayMs its first millisecond */
export function runsOfDay(dayMs: number, average: number): number {
  return Math.round(average * itemAt(WEEKDAYS, new Date(dayMs).getUTCDay()));
}

/** A moment of a day, in milliseconds since its start. */
export function momentOfDay(random: Random, rhythm: Rhythm): number {
  const weights = HOURS[rhythm];
  const hour = random.weighted([...weights.keys()], (index) => itemAt(weights, index));
  return (hour * 3600 + random.integer(0, 3599)) * 1000 + random.integer(0, 999);
}
