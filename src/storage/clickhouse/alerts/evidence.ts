import type { Evidence, Looked } from '../../alert-figures.js';

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
