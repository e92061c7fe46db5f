import type { OpenRequest } from '../../signal/sent-request.js';
import { decodeTraces } from '../decode/traces.js';
import { deriveMetadata } from './span-metadata.js';
import { SpanMapper } from './span-record.js';
import { spansToTraces } from './spans-to-traces.js';

/**
 * Reads requests that `plainRequest` (`wire/plain-request.ts`) found good.
 *
 * @param idleTimeoutMs as in `spansToTraces` @param mapper as there
 */
export function openingOf(idleTimeoutMs: number | null, mapper: SpanMapper): OpenRequest {
  return (request, tenant) => {
    const { batch, rejected } = spansToTraces(
      decodeTraces(request, Infinity),
      { tenant, idleTimeoutMs },
      mapper,
    );
    // Its sender was told that all of it was taken.
    const [first] = rejected;
    if (first !== undefined) throw new Error(`a request that was checked has what cannot be taken: ${first}`);
    return batch.items;
  };
}

/** How what lies in a queue on disk is read again. */
export const READS_SENT = {
  derive: deriveMetadata,
  open: openingOf(null, new SpanMapper()),
};
