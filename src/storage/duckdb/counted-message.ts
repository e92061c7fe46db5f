import type { Batch, QuotaTerms } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';

/** That a batch counts, as it crosses to the store thread. */
export interface CountedMessage extends QuotaTerms {
  /** When the batch came, which decides its month. */
  readonly at: Micros;
}

/** For a message of a batch; empty where the batch is not counted. */
export function countedMessage(
  { quota }: Pick<Batch<unknown>, 'quota'>,
  at: Micros,
): { readonly counted?: CountedMessage } {
  return quota === undefined ? {} : { counted: { ...quota, at } };
}
