import type { DecodeRequest } from '../../signal/raw-batch.js';
import { decodeTraces } from '../decode/traces.js';
import { deriveMetadata } from './span-metadata.js';
import { SpanMapper } from './span-record.js';
import { spansToTraces } from './spans-to-traces.js';

/**
 * Decodes requests that `plainRequest` (`wire/plain-request.ts`) found good.
 *
 * @param idleTimeoutMs as in `spansToTraces` @param mapper as there
 */
export function decoderOf(idleTimeoutMs: number | null, mapper: SpanMapper): DecodeRequest {
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

/** Decodes what a queue on disk has kept. */
export const RAW_DECODERS = {
  derive: deriveMetadata,
  decode: decoderOf(null, new SpanMapper()),
};
