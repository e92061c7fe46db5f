import type { JsonObject } from '../../../signal/attributes.js';
import { storedCall } from '../../../signal/call-details.js';
import { parseJson } from '../../../signal/json.js';
import type { DetailedSpan } from '../../runs.js';
import type { WholeSpan } from '../queries/whole-span.js';

/** One span as the contract gives it. */
export function detailedSpan({ span, call, payload }: WholeSpan): DetailedSpan {
  const { input, output, metadata, sent, origin } = payload;
  return {
    ...span,
    input_data: objectOf(input),
    output_data: objectOf(output),
    details: {
      call: storedCall(call),
      metadata: objectOf(metadata),
      sent: sent === null || origin === null ? null : { bytes: sent, origin },
    },
  };
}

/** Of JSON in UTF-8. */
function objectOf(json: Uint8Array | null): JsonObject | null {
  if (json === null) return null;
  return parseJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8')) as JsonObject;
}
