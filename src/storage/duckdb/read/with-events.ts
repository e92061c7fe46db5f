import { itemAt } from '../../../signal/checked.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import { hasFailed } from '../../shared/logged-events.js';
import type { Payload } from '../../../runs/rules/payload.js';
import type { Connection } from '../files/connection.js';
import type { Capture } from '../segments/segment.js';
import { eventsOfSpans } from './logged-events.js';
import { cursorBehind, type SpanCursor, type SpanRows } from './trace.js';

/**
 * Adds GenAI events from the trace's log records to the spans whose payloads are incomplete. Returns as many spans as fit into
 * memory with them.
 */
export async function withEvents(
  connection: Connection,
  capture: Capture,
  tenant: number,
  cursor: SpanCursor,
  { spans, next }: SpanRows,
): Promise<SpanRows> {
  const lacking = spans.map(({ row, payload }) =>
    lacksSome(payload, Number(row.status)) ? String(row.span_id) : null,
  );
  const found = await eventsOfSpans(connection, capture, tenant, cursor.traceId, lacking);
  if (found.events.size === 0) return { spans, next };
  const kept = spans.slice(0, found.spans).map((span) => {
    const events = found.events.get(String(span.row.span_id));
    return events === undefined ? span : { ...span, events };
  });
  return { spans: kept, next: kept.length < spans.length ? cursorBehind(cursor, kept.at(-1)?.row) : next };
}

/** Whether log records may complete a span. @param status a position in `RUN_STATUSES` */
export function lacksSome({ input, output }: Payload, status: number): boolean {
  return input === null || output === null || hasFailed(itemAt(RUN_STATUSES, status));
}
