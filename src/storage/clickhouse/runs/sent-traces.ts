import { intAt, itemAt } from '../../../signal/checked.js';
import { hourOf } from '../../../signal/trace-map.js';
import type { Micros } from '../../../signal/time.js';
import type { NamedHeader } from '../../../runs/rules/following-header.js';
import { completedSpan } from '../../../runs/rules/completion.js';
import { completedPayload, type Payload } from '../../../runs/rules/payload.js';
import { RUNNING, type SpanRow } from '../../../runs/rules/rows.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import { SPAN_WIRE } from '../../schema/tables.js';
import { BinaryColumns } from '../client/binary-columns.js';
import { headerAt, payloadsAt } from '../../incoming/incoming-rows.js';
import { orderOf } from './message-order.js';
import { serializeNode } from './node-names.js';

/** A span in a message. */
export interface SentSpan {
  readonly row: SpanRow;
  readonly payload: Payload;
  /** In the format of `serializeNode`. */
  readonly node: string;
  /** The number of the span's prompt version; null for none. */
  readonly prompt: number | null;
  /** The encoded {@link row}; null if it was merged from several messages or read from the store. */
  readonly encoded: { readonly columns: BinaryColumns; readonly at: number } | null;
}

/** The part of a trace in a write. */
export interface SentTrace {
  readonly tenant: number;
  readonly traceId: string;
  /** The order of its message: `message-order.ts`. */
  readonly order: number;
  readonly receivedAt: Micros;
  readonly named: NamedHeader;
  readonly isMapped: boolean;
  /** Each id once. */
  readonly spans: readonly SentSpan[];
  /** Distinct hours since 1970 whose rows may contain a run with this message. */
  readonly hours: readonly number[];
}

/** Assigns the orders of a write's messages. */
export class MessagePlaces {
  readonly #write: number;
  readonly #next = new Map<string, number>();

  constructor(write: number) {
    this.#write = write;
  }

  /** The order of the next message of a trace. */
  next(tenant: number, traceId: string): number {
    const key = `${tenant} ${traceId}`;
    const place = this.#next.get(key) ?? 0;
    this.#next.set(key, place + 1);
    return orderOf(this.#write, place);
  }
}

/** The traces of a batch, in their order. */
export function sentTraces(batch: IncomingBatch, places: MessagePlaces): SentTrace[] {
  const columns = new BinaryColumns(SPAN_WIRE, batch.spans);
  return Array.from({ length: batch.traces.rows }, (_, trace) => {
    const named = headerAt(batch, trace);
    const traceId = named.header.trace_id;
    const spans = spansOf(batch, trace, columns);
    return {
      tenant: batch.tenant,
      traceId,
      order: places.next(batch.tenant, traceId),
      receivedAt: batch.receivedAt,
      named,
      isMapped: batch.map !== null,
      spans,
      hours: hoursOf(named, spans),
    };
  });
}

/** A span that occurs twice in a message is merged; the second one may complete it. */
function spansOf(batch: IncomingBatch, trace: number, columns: BinaryColumns): SentSpan[] {
  const spans = new Map<string, SentSpan>();
  const first = batch.start(trace);
  const payloads = payloadsAt(batch, trace);
  for (let at = first; at < batch.end(trace); at++) {
    const span: SentSpan = {
      row: batch.span(at),
      payload: itemAt(payloads, at - first),
      node: batch.map === null ? '' : serializeNode(intAt(batch.map.nodes, at), batch.map.names),
      prompt: batch.promptAt(at),
      encoded: { columns, at },
    };
    const known = spans.get(span.row.span_id);
    if (known === undefined) spans.set(span.row.span_id, span);
    else if (isRunning(known.row) && !isRunning(span.row))
      spans.set(span.row.span_id, completed(known, span));
  }
  return [...spans.values()];
}

function isRunning({ status }: SpanRow): boolean {
  return status === RUNNING;
}

/** A span completed by a later message. */
export function completed(begun: SentSpan, later: SentSpan): SentSpan {
  return {
    row: completedSpan(begun.row, later.row),
    payload: completedPayload(begun.payload, later.payload),
    node: begun.node === '' ? later.node : begun.node,
    prompt: begun.prompt ?? later.prompt,
    encoded: null,
  };
}

/** The hours of its header and its spans. */
function hoursOf(named: NamedHeader, spans: readonly SentSpan[]): number[] {
  const hours = new Set([hourOf(named.header.started_at)]);
  for (const { row } of spans) hours.add(hourOf(row.started_at));
  return [...hours];
}

/** Groups the traces of several batches by tenant and trace id. */
export function byTrace(sent: readonly SentTrace[]): ReadonlyMap<string, readonly SentTrace[]> {
  const traces = new Map<string, SentTrace[]>();
  for (const one of sent) {
    const key = traceKey(one.tenant, one.traceId);
    const others = traces.get(key);
    if (others === undefined) traces.set(key, [one]);
    else others.push(one);
  }
  return traces;
}

/** A key of a trace, unique among all users. */
export function traceKey(tenant: number, traceId: string): string {
  return `${tenant} ${traceId}`;
}

/** A key of a message, unique among all runs; its order is unique only within its run. */
export function messageKey(
  { tenant, traceId }: { readonly tenant: number; readonly traceId: string },
  order: number,
): string {
  return `${traceKey(tenant, traceId)} ${order}`;
}
