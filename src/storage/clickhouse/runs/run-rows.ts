import type { Payload } from '../../../runs/rules/payload.js';
import { callsUntil } from './added-calls.js';
import { rowMadeOf, type WholeSpan } from './effective-spans.js';
import { hourOf } from '../../../signal/trace-map.js';
import { STORED_TEXTS } from '../../schema/tables.js';
import { NO_CALLS, PAYLOAD_COLUMNS, SPAN_ROW_COLUMNS } from '../tables/run-tables.js';
import type { BinaryRow, Fields } from '../client/row-binary.js';
import type { SentSpan, SentTrace } from './sent-traces.js';
import type { DerivedRun } from './derive-run.js';

/** Column values shared by all messages that are not headers. */
const NO_HEADER = { received_at: 0, header: '', bytes: 0, is_mapped: false, spans: 0, hours: [] };
const NOTHING_SET = { success: false, outcome: null, prompt: 0 };

export function headerMessage(trace: SentTrace): BinaryRow {
  const { tenant, traceId, order, receivedAt, named, isMapped, spans, hours } = trace;
  const header = JSON.stringify(named);
  const fields = {
    tenant,
    trace_id: traceId,
    seq: order,
    kind: 'header',
    received_at: receivedAt,
    header,
    bytes: header.length,
    is_mapped: isMapped,
    spans: spans.length,
    hours,
    ...NOTHING_SET,
  };
  return { fields };
}

/** A message other than a header. */
export type OtherMessage =
  | { readonly kind: 'outcome'; readonly success: boolean; readonly outcome: string | null }
  /** `header` is the id of the span, empty for the run, the time of the score in microseconds, and its id. */
  | {
      readonly kind: 'verdict';
      readonly header: string;
      readonly success: boolean;
      readonly outcome: string | null;
    }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'link'; readonly prompt: number };

export function otherMessage(
  { tenant, traceId, order }: Pick<SentTrace, 'tenant' | 'traceId' | 'order'>,
  receivedAt: number,
  message: OtherMessage,
): BinaryRow {
  const fields = {
    ...NO_HEADER,
    ...NOTHING_SET,
    ...message,
    tenant,
    trace_id: traceId,
    seq: order,
    received_at: receivedAt,
  };
  return { fields };
}

/** The position of a span's row. */
interface SpanPlace {
  readonly tenant: number;
  readonly seq: number;
  readonly version: number;
  readonly begun_by: number;
  readonly completed_by: number;
}

export function spanRows({ tenant, order, spans }: SentTrace): BinaryRow[] {
  const asSent = { tenant, seq: order, version: 0, begun_by: 0, completed_by: 0 };
  return spans.map((span) => spanRow(span, asSent));
}

function spanRow({ row, payload, node, prompt, encoded }: SentSpan, place: SpanPlace): BinaryRow {
  const { input, output, metadata, sent, origin } = payload;
  const texts = [input, output, metadata, sent, origin, ...STORED_TEXTS.map((name) => row[name])];
  const fields = {
    ...place,
    hour: hourOf(row.started_at),
    node,
    prompt,
    input,
    output,
    metadata,
    // Binary values are stored as Latin-1 text, because they are read as JSON.
    sent: latin1(sent),
    origin: latin1(origin),
    bytes: texts.reduce((sum, part) => sum + (part?.length ?? 0), 0),
  };
  return encoded === null ? { fields, rest: row as unknown as Fields } : { fields, encoded };
}

/**
 * The row of a whole span.
 *
 * @param begun the span, merged from its messages @param fence the fence under which the facts were read
 */
export function wholeSpanRow(
  { tenant, whole: { made, counts } }: { readonly tenant: number; readonly whole: WholeSpan },
  begun: SentSpan,
  payload: Payload,
  fence: number,
): BinaryRow {
  return spanRow(
    { ...begun, row: { ...rowMadeOf(made), ...counts }, payload, encoded: null },
    {
      tenant,
      seq: 0,
      version: fence,
      begun_by: made.begun.order,
      completed_by: made.completed?.order ?? 0,
    },
  );
}

/** The row of a run, and a tombstone row for each hour that may contain an earlier row of it. */
export function runRows(derived: DerivedRun, agentNo: number, fence: number): BinaryRow[] {
  const { facts, run, hour, otherHours, activeAt, timesOutAt, prompts, nodes, edges, calls, isContradicted } =
    derived;
  const rest = run.header as unknown as Fields;
  const shared = {
    tenant: facts.tenant,
    version: fence,
    agent_no: agentNo,
    span_count: run.spans.length,
    heard_at: run.lastSeenAt,
    active_at: activeAt,
    has_ended: run.hasEnded,
    is_contradicted: isContradicted,
  };
  const row = {
    hour,
    is_deleted: 0,
    times_out_at: timesOutAt,
    prompts,
    nodes,
    edges,
    calls_until: callsUntil(calls),
    model_calls: calls.map(({ stats }) => stats),
    call_tokens: calls.map(({ tokens }) => tokens),
    ...shared,
  };
  const gone = otherHours.map((other) => ({ fields: { hour: other, ...NOTHING_ADDED, ...shared }, rest }));
  return [{ fields: row, rest }, ...gone];
}

/** Values of a tombstone row. */
const NOTHING_ADDED = {
  is_deleted: 1,
  times_out_at: null,
  prompts: [],
  nodes: [],
  edges: [],
  calls_until: NO_CALLS,
  model_calls: [],
  call_tokens: [],
  metadata: null,
  outcome: null,
  error_message: null,
};

/** The payload in a row that has {@link PAYLOAD_COLUMNS}. */
export function payloadOf(row: Fields): Payload {
  const part = (name: string, encoding: 'utf8' | 'latin1'): Uint8Array | null => {
    const value = row[name];
    return typeof value === 'string' ? Buffer.from(value, encoding) : null;
  };
  return {
    input: part('input', 'utf8'),
    output: part('output', 'utf8'),
    metadata: part('metadata', 'utf8'),
    sent: part('sent', 'latin1'),
    origin: part('origin', 'latin1'),
  };
}

function latin1(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** The names of the columns of a span with its payload. */
export const WHOLE_SPAN_COLUMNS: readonly string[] = [...SPAN_ROW_COLUMNS, ...PAYLOAD_COLUMNS].map(
  ({ name }) => name,
);
