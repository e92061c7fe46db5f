import type { DecodeRequest } from '../../signal/raw-batch.js';
import { decodeTraces } from '../decode/traces.js';
import { deriveMetadata } from './span-metadata.js';
import { SpanMapper } from './span-record.js';
import { spansToTraces, type SpanMapping } from './spans-to-traces.js';

/**
 * Decodes requests that `plainRequest` (`wire/plain-request.ts`) accepted.
 *
 * @param waits as for `spansToTraces`
 * @param mapper as for `spansToTraces`
 */
export function decoderOf(
  waits: Pick<SpanMapping, 'idleTimeoutMs' | 'orphanWaitMs'>,
  mapper: SpanMapper,
): DecodeRequest {
  return (request, tenant) => {
    const { batch, rejected } = spansToTraces(decodeTraces(request, Infinity), { tenant, ...waits }, mapper);
    // Its sender received a success response for all of it.
    const [first] = rejected;
    if (first !== undefined)
      throw new Error(`a checked request contains an item that cannot be accepted: ${first}`);
    return batch.items;
  };
}

/** Decoders for items stored by a queue on disk. */
export const RAW_DECODERS = {
  derive: deriveMetadata,
  decode: decoderOf({ idleTimeoutMs: null }, new SpanMapper()),
};
