import type { Evidence, Looked } from '../../contracts/alerts.js';

/** The evidence of having seen no rows at all. */
export const NOTHING_SEEN = 0;

/**
 * Rows are identified by the commit that wrote them: late spans and outcomes of a run write it anew.
 *
 * @param seq the greatest among the rows that were looked at
 */
export function lookedAt(seq: number, since: readonly Evidence[] = []): Looked {
  // Evidence that is no number comes from another store, so everything seen is news.
  return { evidence: String(seq), isNews: since.map((known) => !(seq <= Number(known))) };
}
