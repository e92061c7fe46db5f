import { MICROS_PER_SECOND } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';
import type { Evidence, Looked } from '../../contracts/alerts.js';

/** The evidence of having seen no rows at all. */
export const NOTHING_SEEN = 0;

/**
 * Runs are identified by the ticket with which they were settled last: late spans and outcomes settle them anew.
 *
 * @param ticket the greatest among the rows that were looked at
 */
export function lookedAt(ticket: number, since: readonly Evidence[] = []): Looked {
  // Evidence that is no number comes from another store, so everything seen is news.
  return { evidence: String(ticket), isNews: since.map((known) => !(ticket <= Number(known))) };
}

/** An insert may begin before another one and be seen after it: by so much at most, in microseconds. */
const LATE: Micros = 10 * MICROS_PER_SECOND;
/** Of the arrivals within that time the last ones are kept. */
export const MOST_ARRIVALS = 32;

/**
 * Points are identified by when they came: all of an insert at the same microsecond. Whoever has looked knows those that it saw, and takes
 * what came longer before for seen.
 *
 * @param arrivals of the points that were looked at, each once, the last first: the first {@link MOST_ARRIVALS} of them
 */
export function arrivalsLookedAt(arrivals: readonly Micros[], since: readonly Evidence[] = []): Looked {
  const last = arrivals[0] ?? NOTHING_SEEN;
  const kept = arrivals.filter((arrival) => arrival >= last - LATE);
  const isNews = since.map((evidence) => {
    const known = evidence.split(' ').map(Number);
    // Evidence that is no number comes from another store, so everything seen is news.
    if (!known.every(Number.isInteger)) return true;
    const [newest = NOTHING_SEEN] = known;
    const oldest = known.length < MOST_ARRIVALS ? newest - LATE : (known.at(-1) ?? newest);
    return arrivals.some((arrival) => arrival > oldest && !known.includes(arrival));
  });
  return { evidence: kept.length === 0 ? String(NOTHING_SEEN) : kept.join(' '), isNews };
}
