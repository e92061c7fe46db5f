import type { Operation } from '../../component/operation.js';
import { QUOTA_HEADERS_NOTE } from '../../http/quota-headers.js';
import { TraceBatchReplySchema, TraceBatchSchema } from './wire-format.js';

/** What the route takes and gives. @param limits of the body, from the configuration */
export function traceBatchOperation(limits: {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}): Operation {
  return {
    id: 'ingestTraces',
    method: 'POST',
    path: '/api/v1/traces/batch',
    tag: 'traces',
    summary: 'Send runs of agents',
    description:
      'Each trace is checked by itself: the answer is 200 even if some or all of them are rejected, and names each of these.  ' +
      'An accepted trace is stored durably and readable at once. Repeats are accepted and change nothing, so a ' +
      `request may be sent again whenever its answer was lost. ${QUOTA_HEADERS_NOTE}`,
    access: 'write',
    audit: { none: 'Data intake.' },
    body: TraceBatchSchema,
    responses: { 200: TraceBatchReplySchema },
    errors: [429],
    ...limits,
  };
}
