import type { JsonObject } from '../../../signal/attributes.js';
import { storedCall } from '../../../signal/call-details.js';
import { parseJson } from '../../../signal/json.js';
import { loggedEvent, type StoredLoggedEvent } from '../../shared/logged-events.js';
import type { DetailedSpan, SpanSummary, StoredSpan } from '../../contracts/runs.js';
import { numberOf, spanHeadOfRow, textOf } from '../../shared/summaries-of-rows.js';
import type { Row } from '../client/connection.js';
import { shownNode } from '../runs/node-names.js';
import { payloadOf } from '../runs/run-rows.js';

/** UTF-16 units of the input that a summary shows. */
const SHOWN = 200;

/** The first characters of a text, without splitting a surrogate pair. */
function inputBeginning(text: string): string {
  const some = text.slice(0, SHOWN);
  return /[\uD800-\uDBFF]$/.test(some) ? some.slice(0, -1) : some;
}

function headOf(row: Row) {
  return spanHeadOfRow(String(row.trace_id), row);
}

export function storedSpan(row: Row, events: readonly StoredLoggedEvent[] = []): StoredSpan {
  return {
    ...headOf(row),
    input_data: objectOf(textOf(row.input)),
    output_data: objectOf(textOf(row.output)),
    ...(events.length > 0 && { events: events.map(loggedEvent) }),
  };
}

export function detailedSpan(row: Row, events: readonly StoredLoggedEvent[] = []): DetailedSpan {
  const { sent, origin } = payloadOf(row);
  return {
    ...storedSpan(row, events),
    details: {
      call: storedCall(textOf(row.call_details)),
      metadata: objectOf(textOf(row.metadata)),
      sent: sent === null || origin === null ? null : { bytes: sent, origin },
    },
  };
}

export function spanSummary(row: Row, agentName: string): SpanSummary {
  const beginning = textOf(row.beginning);
  return {
    node: shownNode(String(row.node), agentName),
    input_bytes: numberOf(row.input_bytes),
    output_bytes: numberOf(row.output_bytes),
    preview: beginning === null ? null : inputBeginning(beginning),
    ...headOf(row),
  };
}

export function objectOf(json: string | null): JsonObject | null {
  return json === null ? null : (parseJson(json) as JsonObject);
}
