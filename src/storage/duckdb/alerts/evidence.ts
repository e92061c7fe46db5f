import type { Evidence, Looked } from '../../alert-figures.js';

/** Of no rows at all. */
export const NOTHING_SEEN = 0;

/**
 * Rows are known by the commit that wrote them: late spans and outcomes of a run write it anew.
 *
 * @param seq the greatest among the rows that were looked at
 */
export function lookedAt(seq: number, since: readonly Evidence[] = []): Looked {
  // What is no number is greater than none: it is another store's.
  return { evidence: String(seq), isNews: since.map((known) => !(seq <= Number(known))) };
}
