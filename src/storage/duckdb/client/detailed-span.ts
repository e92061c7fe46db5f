import type { JsonObject } from '../../../signal/attributes.js';
import { storedCall } from '../../../signal/call-details.js';
import { parseJson } from '../../../signal/json.js';
import { loggedEvent } from '../../logged-events.js';
import type { DetailedSpan, StoredSpan } from '../../runs.js';
import type { WholeSpan } from '../queries/whole-span.js';

/** One span as the contract gives it. */
export function detailedSpan(whole: WholeSpan): DetailedSpan {
  const { metadata, sent, origin } = whole.payload;
  return {
    ...shortSpan(whole),
    details: {
      call: storedCall(whole.call),
      metadata: objectOf(metadata),
      sent: sent === null || origin === null ? null : { bytes: sent, origin },
    },
  };
}

/** The same without its details. */
export function shortSpan({ span, payload, events }: WholeSpan): StoredSpan {
  return {
    ...span,
    input_data: objectOf(payload.input),
    output_data: objectOf(payload.output),
    ...(events.length > 0 && { events: events.map(loggedEvent) }),
  };
}

/** Of JSON in UTF-8. */
function objectOf(json: Uint8Array | null): JsonObject | null {
  if (json === null) return null;
  return parseJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8')) as JsonObject;
}
