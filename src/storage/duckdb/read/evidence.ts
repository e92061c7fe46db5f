import type { Evidence, Looked } from '../../contracts/alerts.js';

/** The evidence if no rows were read. */
export const NOTHING_SEEN = 0;

/**
 * Rows are identified by the commit that wrote them: a late span or outcome rewrites the run's row.
 *
 * @param seq the greatest commit among the rows read
 */
export function lookedAt(seq: number, since: readonly Evidence[] = []): Looked {
  // Evidence that is not a number comes from another store, so all rows are news.
  return { evidence: String(seq), isNew: since.map((known) => !(seq <= Number(known))) };
}
