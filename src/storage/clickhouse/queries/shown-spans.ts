import type { JsonObject } from '../../../signal/attributes.js';
import { itemAt } from '../../../signal/checked.js';
import { storedCall } from '../../../signal/call-details.js';
import { parseJson } from '../../../signal/json.js';
import { RUN_STATUSES, SPAN_TYPES } from '../../../signal/span.js';
import { loggedEvent, type StoredLoggedEvent } from '../../logged-events.js';
import type { DetailedSpan, OutlinedSpan, StoredSpan } from '../../runs.js';
import { numberOf, textOf } from '../../summaries-of-rows.js';
import type { Row } from '../client/connection.js';
import { shownNode } from '../runs/node-names.js';
import { payloadOf } from '../runs/run-rows.js';
import { inputBeginning } from './input-beginning.js';

function headOf(row: Row) {
  return {
    span_id: String(row.span_id),
    trace_id: String(row.trace_id),
    parent_span_id: textOf(row.parent_span_id),
    type: itemAt(SPAN_TYPES, Number(row.type)),
    name: String(row.name),
    status: itemAt(RUN_STATUSES, Number(row.status)),
    started_at: Number(row.started_at),
    ended_at: numberOf(row.ended_at),
    duration_ms: numberOf(row.duration_ms),
    model: textOf(row.model),
    input_tokens: numberOf(row.input_tokens),
    output_tokens: numberOf(row.output_tokens),
    total_tokens: numberOf(row.total_tokens),
    cost_usd: numberOf(row.cost_usd),
    error_message: textOf(row.error_message),
    ...(typeof row.same_as === 'string' && { same_as: row.same_as }),
  };
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

export function outlinedSpan(row: Row, agentName: string): OutlinedSpan {
  const beginning = textOf(row.beginning);
  return {
    ...headOf(row),
    node: shownNode(String(row.node), agentName),
    input_bytes: numberOf(row.input_bytes),
    output_bytes: numberOf(row.output_bytes),
    preview: beginning === null ? null : inputBeginning(beginning),
  };
}

export function objectOf(json: string | null): JsonObject | null {
  return json === null ? null : (parseJson(json) as JsonObject);
}
