import { MICROS_PER_SECOND } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';
import type { Evidence, Looked } from '../../contracts/alerts.js';

/** The evidence if no rows were seen. */
export const NOTHING_SEEN = 0;

/**
 * Evidence of runs is the greatest fence: late spans and outcomes apply a run again, under a new fence.
 *
 * @param fence the greatest among the rows read
 */
export function lookedAt(fence: number, since: readonly Evidence[] = []): Looked {
  // Evidence that is not a number comes from another store, so everything is new.
  return { evidence: String(fence), isNew: since.map((known) => !(fence <= Number(known))) };
}

/** Maximum delay with which an insert becomes visible after one that began later, in microseconds. */
const LATE: Micros = 10 * MICROS_PER_SECOND;
/** Maximum of arrivals within {@link LATE} that the evidence keeps; the newest are kept. */
export const MOST_ARRIVALS = 32;

/**
 * Evidence of points is their arrival times; all points of an insert share one microsecond. Evidence lists the recent arrivals and treats
 * older ones as seen.
 *
 * @param arrivals distinct arrival times of the points read, newest first, at most {@link MOST_ARRIVALS}
 */
export function arrivalsLookedAt(arrivals: readonly Micros[], since: readonly Evidence[] = []): Looked {
  const last = arrivals[0] ?? NOTHING_SEEN;
  const kept = arrivals.filter((arrival) => arrival >= last - LATE);
  const isNew = since.map((evidence) => {
    const known = evidence.split(' ').map(Number);
    // Evidence that is not a number comes from another store, so everything is new.
    if (!known.every(Number.isInteger)) return true;
    const [newest = NOTHING_SEEN] = known;
    const oldest = known.length < MOST_ARRIVALS ? newest - LATE : (known.at(-1) ?? newest);
    return arrivals.some((arrival) => arrival > oldest && !known.includes(arrival));
  });
  return { evidence: kept.length === 0 ? String(NOTHING_SEEN) : kept.join(' '), isNew };
}
