import type { LogRecord } from '../../signal/log-record.js';

/** Somebody who wants to know at once what a user's writes bring. Neither method may throw or take long: writes wait for them. */
export interface ArrivalListener {
  /** Runs that were written or judged, after the commit. @param traceIds in lower case */
  readonly traces?: (traceIds: ReadonlySet<string>) => void;
  /**
   * Log records before they are stored, which are gone afterwards: what is wanted of them has to be kept.
   *
   * @returns called after the commit; never where it fails
   */
  readonly logs?: (records: readonly LogRecord[]) => (() => void) | undefined;
}

/**
 * Tells of writes through this process as they come, and of nothing that came before or through another one: whoever must know
 * everything asks the contracts of what is stored. What was told is read by whoever asks afterwards. While nobody listens to a user,
 * that user's writes cost nothing more.
 */
export interface Arrivals {
  /** @returns a function that ends it */
  watch(userId: string, listener: ArrivalListener): () => void;
}
