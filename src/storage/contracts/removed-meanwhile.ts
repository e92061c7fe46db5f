import { ConsumeError } from '../../component/consume-error.js';

/**
 * What is read in parts was removed between two of them. A list that ended there would look whole; who asks again is told
 * that there is no such thing.
 *
 * @param what was removed, and the list that it has
 */
export function removedMeanwhile({
  what,
  list,
}: {
  readonly what: string;
  readonly list: string;
}): ConsumeError {
  const detail = `The ${what} was removed while its ${list} were being read.`;
  return new ConsumeError(detail, { code: 'storage_unavailable', retryable: true, detail });
}
