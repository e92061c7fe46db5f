/** The header, or gRPC metadata key, with a client's id of a batch, so that a repeated batch adds nothing. */
export const BATCH_ID_HEADER = 'jackdaw-batch-id';

const MAX_LENGTH = 128;
const BATCH_ID = /^[A-Za-z0-9._~:-]+$/;

/** The problem of a batch's name; undefined if it is valid. */
export function batchIdProblem(id: string): string | undefined {
  if (id.length > MAX_LENGTH || !BATCH_ID.test(id))
    return `${BATCH_ID_HEADER} must be 1 to ${MAX_LENGTH} letters, digits and . _ ~ : -`;
  return undefined;
}
