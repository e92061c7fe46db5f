import type { StoredTrace } from '../../storage/telemetry-store.js';
import { printRunFields } from '../../storage/print-run.js';
import { longBody } from '../support/long-body.js';
import { printJson } from '../../signal/json.js';

/**
 * A trace as the API shows it, in pieces where it is large.
 *
 * @throws ConsumeError what the store throws while the first part is read.
 */
export async function printTrace(trace: StoredTrace): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const header = printJson({ ...printRunFields(trace), metadata: trace.metadata });
  return await longBody(`${header.slice(0, -1)},"spans":[`, trace.spans, ']}');
}
