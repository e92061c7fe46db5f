import { copyOf, NO_PAYLOAD, type Payload } from '../../../runs/rules/payload.js';
import type { SpanHead } from '../../shared/serialize-span.js';
import { spanHeadOfRow, textOf } from '../../shared/summaries-of-rows.js';
import { selectList } from '../../schema/table.js';
import { SPANS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { conditionsOn, narrowed } from '../segments/commit-ranges.js';
import type { StoredLoggedEvent } from '../../shared/logged-events.js';
import { placeOf } from '../segments/line-places.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { TraceId } from '../segments/trace-id.js';
import { firstPayloads } from '../write/payloads.js';
import { eventsOfSpans } from './logged-events.js';
import { SHOWN, type SpanCursor, type SpanOnPage, type SpanRows, type SpansOfTrace } from './trace.js';
import { lacksSome } from './with-events.js';

/** A complete span as sent by the store thread; the payload is parsed by the receiver. */
export interface WholeSpan {
  readonly span: SpanHead;
  /** As `serializeCall` writes it. */
  readonly call: string | null;
  readonly payload: Payload;
  readonly events: readonly StoredLoggedEvent[];
}

/** A page of complete spans. */
export interface WholeSpanPage {
  readonly spans: readonly WholeSpan[];
  readonly next: SpanCursor | null;
}

/** @param of.row with the columns {@link SHOWN} */
function wholeSpan(traceId: string, { row, payload, events = [] }: SpanOnPage): WholeSpan {
  return {
    span: spanHeadOfRow(traceId, row),
    call: textOf(row.call_details),
    // Copied, because a view would transfer the whole piece.
    payload: copyOf(payload),
    events,
  };
}

/** A page of a trace's spans with all stored fields. */
export function wholeSpanPage(traceId: string, { spans, next }: SpanRows): WholeSpanPage {
  return { spans: spans.map((span) => wholeSpan(traceId, span)), next };
}

/** A page of complete spans without the fields that the API does not show in a trace. */
export function shortSpanPage(traceId: string, { spans, next }: SpanRows): WholeSpanPage {
  const short = spans.map((span) => ({
    ...span,
    payload: { ...NO_PAYLOAD, input: span.payload.input, output: span.payload.output },
  }));
  return wholeSpanPage(traceId, { spans: short, next });
}

/**
 * @param mayHaveEvents whether there may be GenAI events among the log records of the trace
 * @returns null if the trace has no such span
 */
export async function readSpan(
  connection: Connection,
  capture: Capture,
  tenant: number,
  { trace, span }: { readonly trace: TraceId; readonly span: TraceId },
  { commits }: Pick<SpansOfTrace, 'commits'>,
  mayHaveEvents: boolean,
): Promise<WholeSpan | null> {
  const isIt = `tenant = ${tenant} AND trace_id = '${trace.text}'::UUID AND span_id = '${span.text}'::UUID`;
  const where = conditionsOn([commits]).map((seqs) => narrowed(seqs, isIt));
  const [row] = await connection.rows(
    `SELECT seq, line, ${selectList(SHOWN)} FROM ${newest(capture, SPANS, where)}`,
  );
  if (row === undefined) return null;
  const place = placeOf(row);
  const of = { places: [place], areAll: false };
  const { lines } = await firstPayloads(connection, capture, tenant, trace.text, of, Infinity);
  const payload = lines.get(place.seq)?.get(place.line) ?? NO_PAYLOAD;
  if (!mayHaveEvents || !lacksSome(payload, Number(row.status)))
    return wholeSpan(trace.text, { row, payload });
  const { events } = await eventsOfSpans(connection, capture, tenant, trace.text, [span.text]);
  return wholeSpan(trace.text, { row, payload, events: events.get(span.text) ?? [] });
}
