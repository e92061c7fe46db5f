import type { SpelledError } from '../../../worker/thread-protocol.js';
import { reviveError } from '../../revive-error.js';
import { StoreOpenError } from '../files/store-open-error.js';

/** Errors of the store thread as those of this side. */
export function revive(error: SpelledError): Error {
  return reviveError(error, { StoreOpenError });
}
