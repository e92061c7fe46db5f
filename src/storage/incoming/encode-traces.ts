import type { TracesBatch } from '../../signal/batch.js';
import { invariant } from '../../signal/checked.js';
import type { EventType } from '../../signal/event.js';
import { AGENT_SOURCES, RUN_KINDS, RUN_STATUSES, type SpanRecord } from '../../signal/span.js';
import { declaredContext, NO_CONTEXT, serializeContext, DIMENSIONS } from '../../signal/run-context.js';
import { serializeCall } from '../../signal/call-details.js';
import { mapOf } from '../../signal/derive-map.js';
import type { DerivedMap } from '../../signal/service-map.js';
import { TYPE_CODES } from '../../signal/trace-map.js';
import type { TraceRecord } from '../../signal/trace.js';
import { ColumnsReader } from '../../worker/columns-reader.js';
import { ColumnsWriter } from '../../worker/columns-writer.js';
import { transferables, type Column, type ColumnsMessage, type RowOf } from '../../worker/columns.js';
import { TextScratch } from '../../worker/text-scratch.js';
import { formatUuid } from '../../worker/uuid-words.js';
import { contextOf, tagsKey } from '../../runs/rules/context-of-spans.js';
import { haveEnded, topmost } from '../../runs/rules/header-of-spans.js';
import { durationMs, totalTokens } from '../../runs/rules/completion.js';
import {
  AWAITS_ROOT,
  DERIVED,
  FOLLOWS_SPANS,
  REMOTE_PARENT,
  REMOTE_VERDICT,
} from '../../runs/rules/derived.js';
import { indexOf } from '../schema/table.js';
import {
  LONG_PIECE_BYTES,
  PIECE_BYTES,
  SPAN_WIRE,
  TRACE_LATER,
  TRACE_ADDED,
  TRACE_WIRE,
} from '../schema/tables.js';
import { PayloadWriter } from '../../runs/rules/payload.js';
import { WHOLE } from '../../runs/rules/duplicate-calls.js';
import { countedOnce, type SpanCounts, type Usage, type UsageNode } from '../../runs/rules/usage.js';
import { namedPrompts, type NamedPrompts, type PromptMessage } from './prompt-message.js';
import { scoresOfTraces, type ScoreRow } from './score-rows.js';
import { serializeJson } from '../../signal/json.js';
import type { GivenPayload } from '../../runs/rules/payload.js';
import type { JsonObject } from '../../signal/attributes.js';
import { sentOf } from '../../signal/sent-span.js';
import type { Micros } from '../../signal/time.js';

/** The user and month whose quota a change counts for. */
export interface Charge {
  readonly tenant: number;
  /** When it was received, which decides the month. */
  readonly at: Micros;
  /** Monthly limit in items; Infinity for no limit. */
  readonly limit: number;
}

/** Span types that create no node. */
const NODELESS: ReadonlySet<string> = new Set(['llm', 'tool']);

/** The notes stored in addition to `sent`: all others can be derived from it. */
const KEPT_NOTES = ['usage', 'cost_source', 'provider', 'clock_skew'] as const;

/** The fields of a span stored outside its columns. */
function givenPayload(span: SpanRecord): GivenPayload {
  // If no mapping set it, the node is derived from `metadata`.
  const sent = span.map_hint === null && !NODELESS.has(span.type) ? undefined : sentOf(span);
  return {
    input: jsonOf(span.input_data),
    output: jsonOf(span.output_data),
    metadata: jsonOf(sent === undefined ? span.metadata : keptNotes(sent.notes)),
    sent: sent?.bytes ?? null,
    origin: sent?.origin.bytes ?? null,
  };
}

function keptNotes(notes: JsonObject): JsonObject | null {
  let kept: JsonObject | null = null;
  for (const name of KEPT_NOTES) {
    const value = notes[name];
    if (value !== undefined) (kept ??= {})[name] = value;
  }
  return kept;
}

function jsonOf(value: JsonObject | null): string | null {
  return value === null ? null : serializeJson(value);
}

/** A span as sent to the store thread: its columns and its payload. */
export const SPAN_MESSAGE: readonly Column[] = [
  ...SPAN_WIRE,
  { name: 'payload', kind: 'text', sql: 'VARCHAR' },
];

/** A header as sent to the store thread: with its agent's name, and its number of spans in the batch. */
export const TRACE_MESSAGE: readonly Column[] = [
  ...TRACE_WIRE,
  ...TRACE_LATER,
  ...TRACE_ADDED,
  { name: 'agent', kind: 'text', sql: 'VARCHAR' },
  { name: 'spans', kind: 'uint32', sql: 'UINTEGER' },
];

/** The rows of a batch of traces. Spans are in the order of their traces. */
interface EncodedRows {
  readonly receivedAt: number;
  readonly traces: ColumnsMessage;
  readonly spans: ColumnsMessage;
  /** Absent for none. */
  readonly scores?: readonly ScoreRow[];
}

/** A batch of traces without the settings of its user. */
export interface EncodedTraces extends EncodedRows {
  readonly named: NamedPrompts | null;
  /** Its additions to the service map; undefined if no map is derived. */
  readonly map: DerivedMap | undefined;
}

/** A batch of traces for the store thread. */
export interface TracesMessage extends EncodedRows {
  readonly tenant: number;
  /** Present if a service map was derived from the batch. */
  readonly map?: DerivedMap;
  /** The subscribed event types of this user's telemetry. */
  readonly wanted: readonly EventType[];
  /** Present if the batch counts for a quota. */
  readonly counted?: Charge;
  /** Present if spans name prompt versions. */
  readonly prompts?: PromptMessage;
}

const PAYLOAD = indexOf(SPAN_MESSAGE, 'payload');
const T = columnNumbers(TRACE_MESSAGE);
const STATUS_CODES: ReadonlyMap<string, number> = new Map(RUN_STATUSES.map((status, code) => [status, code]));
const SOURCE_CODES: ReadonlyMap<string, number> = new Map(
  AGENT_SOURCES.map((source, code) => [source, code]),
);

/** Encodes batches as columns, and derives missing fields. It has scratch memory, so create one per thread. */
export class TracesEncoder {
  readonly #spanText = new TextScratch();
  readonly #traceText = new TextScratch();

  encode(batch: Pick<TracesBatch, 'items' | 'service_map'>, receivedAt: number): EncodedTraces {
    let spanCount = 0;
    for (const item of batch.items) spanCount += item.spans.length;
    const spans = new ColumnsWriter(SPAN_MESSAGE, spanCount, this.#spanText);
    const traces = new ColumnsWriter(TRACE_MESSAGE, batch.items.length, this.#traceText);
    let row = 0;
    batch.items.forEach((item, i) => {
      const { usage, counts } = countedOnce(item.spans.map(usageNode));
      for (const span of item.spans) writeSpan(spans, row++, span, counts.get(span.span_id));
      writeHeader(traces, i, item, usage);
    });
    this.#writePayloads(spans, batch);
    const scores = scoresOfTraces(batch.items);
    return {
      receivedAt,
      traces: traces.finish(),
      spans: spans.finish(),
      ...(scores.length > 0 && { scores }),
      map: mapOf(batch),
      named: namedPrompts(batch.items),
    };
  }

  /** Written after all other texts, so that a trace's payloads are adjacent and are stored as slices. */
  #writePayloads(spans: ColumnsWriter, batch: Pick<TracesBatch, 'items'>): void {
    const text = this.#spanText;
    const writer = new PayloadWriter(text);
    let row = 0;
    for (const item of batch.items) {
      writer.beginPiece();
      for (const span of item.spans) {
        const start = text.length;
        writer.write(givenPayload(span), PIECE_BYTES, LONG_PIECE_BYTES);
        spans.span(PAYLOAD, row++, start, text.length);
      }
    }
  }
}

/** The ids of the traces of a batch, in order. */
export function traceIdsOf({ traces }: Pick<EncodedRows, 'traces'>): string[] {
  const reader = new ColumnsReader(TRACE_MESSAGE, traces);
  const words = reader.uuidWords(T.trace_id);
  return Array.from({ length: traces.rows }, (_, row) => formatUuid(words, row * 4));
}

/** The buffers to transfer; the map is copied, since another store may use it, too. */
export function transferablesOf({ traces, spans, named }: EncodedTraces): ArrayBuffer[] {
  const prompts = named === null ? [] : [named.spans.buffer];
  return [...transferables(traces), ...transferables(spans), ...prompts];
}

function callKeyOf({ type, call }: SpanRecord): string | null {
  return type === 'llm' ? (call?.key ?? null) : null;
}

interface EncodedSpan {
  readonly span: SpanRecord;
  /** Undefined for the usual counts. */
  readonly counts: SpanCounts | undefined;
}

type SpanColumns = RowOf<typeof SPAN_WIRE>;

/** The value of each column of a span. */
const SPAN_VALUES: { readonly [Name in keyof SpanColumns]: (encoded: EncodedSpan) => SpanColumns[Name] } = {
  trace_id: ({ span }) => span.trace_id,
  span_id: ({ span }) => span.span_id,
  parent_span_id: ({ span }) => span.parent_span_id,
  type: ({ span }) => TYPE_CODES[span.type],
  status: ({ span }) => invariant(STATUS_CODES.get(span.status), 'code of the status'),
  name: ({ span }) => span.name,
  started_at: ({ span }) => span.started_at,
  ended_at: ({ span }) => span.ended_at,
  duration_ms: ({ span }) => span.duration_ms ?? durationMs(span.started_at, span.ended_at),
  model: ({ span }) => span.model,
  input_tokens: ({ span }) => span.input_tokens,
  output_tokens: ({ span }) => span.output_tokens,
  total_tokens: ({ span }) => totalTokens(span),
  cost_usd: ({ span }) => span.cost_usd,
  error_message: ({ span }) => span.error_message,
  agent_source: ({ span: { agent_hint: hint } }) =>
    hint === null ? null : invariant(SOURCE_CODES.get(hint.source), 'code of the source'),
  agent_name: ({ span }) => span.agent_hint?.name ?? null,
  map_hint: ({ span }) => span.map_hint,
  run_kind: ({ span }) => (span.run_kind === null ? null : RUN_KINDS.indexOf(span.run_kind)),
  context: ({ span }) => span.context && serializeContext(span.context),
  call_details: ({ span }) => span.call && serializeCall(span.call),
  derived: ({ span }) =>
    (span.duration_ms === null ? DERIVED.duration_ms : 0) |
    (span.total_tokens === null ? DERIVED.total_tokens : 0) |
    (span.parent_is_remote === true ? REMOTE_PARENT : 0),
  call_key: ({ span }) => callKeyOf(span),
  same_as: ({ counts }) => counts?.same_as ?? null,
  counted: ({ counts }) => (counts === undefined || counts.counted === WHOLE ? null : counts.counted),
  counted_tokens: ({ counts }) => counts?.counted_tokens ?? null,
  counted_cost: ({ counts }) => counts?.counted_cost ?? null,
};
const SPAN_WRITERS = SPAN_WIRE.map(({ name, kind }, column) => ({
  column,
  kind,
  valueOf: SPAN_VALUES[name],
}));

function writeSpan(to: ColumnsWriter, row: number, span: SpanRecord, counts: SpanCounts | undefined): void {
  const encoded = { span, counts };
  for (const { column, kind, valueOf } of SPAN_WRITERS) to.value(column, kind, row, valueOf(encoded));
}

function writeHeader(
  to: ColumnsWriter,
  row: number,
  { trace: header, spans }: TraceRecord,
  used: Usage,
): void {
  let derived = header.follows_spans ? FOLLOWS_SPANS : 0;
  const isRunning = header.follows_spans && header.status === 'running';
  if (isRunning && spans.length > 0 && haveEnded(spans)) derived |= AWAITS_ROOT;
  const hasVerdict = header.success !== null || header.outcome !== null;
  if (hasVerdict && header.follows_spans && (topmost(spans)?.parent_span_id ?? null) !== null)
    derived |= REMOTE_VERDICT;
  to.uuid(T.trace_id, row, header.trace_id);
  to.byte(T.kind, row, RUN_KINDS.indexOf(header.kind));
  to.byte(T.status, row, invariant(STATUS_CODES.get(header.status), 'code of the status'));
  to.int64(T.started_at, row, header.started_at);
  nullableInt(to, T.ended_at, row, header.ended_at);
  if (header.duration_ms === null) derived |= DERIVED.duration_ms;
  nullableDouble(
    to,
    T.duration_ms,
    row,
    header.duration_ms ?? durationMs(header.started_at, header.ended_at),
  );
  if (header.success === null) to.isNull(T.success, row);
  else to.byte(T.success, row, header.success ? 1 : 0);
  nullableText(to, T.outcome, row, header.outcome);
  nullableText(to, T.error_message, row, header.error_message);
  let tokens = header.total_tokens;
  let cost = header.total_cost_usd;
  if (tokens === null) {
    derived |= DERIVED.total_tokens;
    tokens = used.total_tokens;
  }
  if (cost === null) {
    derived |= DERIVED.total_cost_usd;
    cost = used.total_cost_usd;
  }
  nullableInt(to, T.total_tokens, row, tokens);
  nullableInt(to, T.total_cost_usd, row, cost);
  nullableText(to, T.metadata, row, header.metadata === null ? null : serializeJson(header.metadata));
  nullableText(to, T.sdk_version, row, header.sdk_version);
  nullableInt(to, T.idle_timeout_ms, row, header.idle_timeout_ms);
  const declared = header.follows_spans ? NO_CONTEXT : declaredContext(header);
  const given = contextOf(spans);
  if (declared.session_id === null) derived |= DERIVED.session_id;
  if (declared.user_id === null) derived |= DERIVED.user_id;
  if (declared.tags === null) derived |= DERIVED.tags;
  for (const field of DIMENSIONS) if (declared[field] === null) derived |= DERIVED[field];
  nullableText(to, T.session_id, row, declared.session_id ?? given.session_id);
  nullableText(to, T.user_id, row, declared.user_id ?? given.user_id);
  nullableText(to, T.tags, row, tagsKey(declared) ?? tagsKey(given));
  to.uint32(T.derived, row, derived);
  to.isNull(T.commits, row);
  to.isNull(T.closed, row);
  nullableDouble(to, T.sample_rate, row, header.sample_rate);
  nullableInt(to, T.orphan_wait_ms, row, header.orphan_wait_ms);
  for (const field of DIMENSIONS) nullableText(to, T[field], row, declared[field] ?? given[field]);
  to.text(T.agent, row, header.agent);
  to.uint32(T.spans, row, spans.length);
}

function usageNode(span: SpanRecord): UsageNode {
  return {
    span_id: span.span_id,
    parent_span_id: span.parent_span_id,
    type: TYPE_CODES[span.type],
    total_tokens: totalTokens(span),
    cost_usd: span.cost_usd,
    call_key: callKeyOf(span),
    started_at: span.started_at,
    ended_at: span.ended_at,
  };
}

function nullableInt(to: ColumnsWriter, column: number, row: number, value: number | null): void {
  if (value === null) to.isNull(column, row);
  else to.int64(column, row, value);
}

function nullableDouble(to: ColumnsWriter, column: number, row: number, value: number | null): void {
  if (value === null) to.isNull(column, row);
  else to.float64(column, row, value);
}

function nullableText(to: ColumnsWriter, column: number, row: number, value: string | null): void {
  if (value === null) to.isNull(column, row);
  else to.text(column, row, value);
}

/** The position of each column of a message, by name. */
function columnNumbers(columns: readonly Column[]): Record<ColumnName, number> {
  return Object.fromEntries(columns.map((column) => [column.name, indexOf(columns, column.name)])) as Record<
    ColumnName,
    number
  >;
}

type ColumnName =
  | (typeof TRACE_WIRE)[number]['name']
  | (typeof TRACE_LATER)[number]['name']
  | (typeof TRACE_ADDED)[number]['name']
  | 'agent'
  | 'spans';
