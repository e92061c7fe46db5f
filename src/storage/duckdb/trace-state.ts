import { RUN_STATUSES } from '../../signal/span.js';
import { DERIVED } from '../tables.js';
import { usageOf } from '../usage.js';
import { durationMs, totalTokens } from './encode-traces.js';

/** A header as it is stored, by the columns of `TRACE_WIRE`. */
export interface TraceRow {
  trace_id: string;
  status: number;
  started_at: number;
  ended_at: number | null;
  duration_ms: number | null;
  success: boolean | null;
  outcome: string | null;
  error_message: string | null;
  total_tokens: number | null;
  total_cost_usd: number | null;
  metadata: string | null;
  sdk_version: string | null;
  derived: number;
}

/** A span as it is stored, by the columns of `SPAN_WIRE`. */
export interface SpanRow {
  trace_id: string;
  span_id: string;
  parent_span_id: string | null;
  type: number;
  status: number;
  name: string;
  started_at: number;
  ended_at: number | null;
  duration_ms: number | null;
  model: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  total_tokens: number | null;
  cost_usd: number | null;
  error_message: string | null;
  derived: number;
}

export interface SpanState {
  row: SpanRow;
  /** Where the newest stored version lies; null for a span that is new. */
  stored: { readonly seq: number; readonly line: number } | null;
  /** Its line of the payload; undefined while it has not been read. */
  payload: string | undefined;
  changed: boolean;
}

const RUNNING = RUN_STATUSES.indexOf('running');
const TAB = '\t';

/** Whether a stored span can still be changed by this message: only a running one, by a terminal status. */
export function completes(stored: SpanRow | TraceRow, incoming: SpanRow | TraceRow): boolean {
  return stored.status === RUNNING && incoming.status !== RUNNING;
}

/**
 * A trace that is not simply new: what is stored of it, and what one commit makes of it (decisions §3, "Identity" and
 * "Declared and derived").
 */
export class TraceState {
  readonly spans = new Map<string, SpanState>();
  header: TraceRow;
  readonly agentNo: number;
  /** The commit of the newest stored header; null for a trace that is new. */
  storedSeq: number | null;
  firstSeq: number;
  lastSeq: number;
  #headerChanged: boolean;

  constructor(
    header: TraceRow,
    place: {
      readonly agentNo: number;
      readonly storedSeq: number | null;
      readonly firstSeq: number;
      readonly lastSeq: number;
    },
  ) {
    this.header = header;
    this.agentNo = place.agentNo;
    this.storedSeq = place.storedSeq;
    this.firstSeq = place.firstSeq;
    this.lastSeq = place.lastSeq;
    this.#headerChanged = place.storedSeq === null;
  }

  /** Another header of this trace came: it completes a running one, and otherwise changes nothing. */
  applyHeader(incoming: TraceRow): void {
    if (!completes(this.header, incoming)) return;
    const stored = declaredHeader(this.header);
    const later = declaredHeader(incoming);
    const merged = fillNulls(stored, later);
    merged.status = incoming.status;
    merged.derived = stored.derived & later.derived;
    endAfterStart(merged);
    this.header = merged;
    this.#headerChanged = true;
  }

  /** A span came that is not stored under another trace. */
  applySpan(incoming: SpanRow, payload: string): void {
    const known = this.spans.get(incoming.span_id);
    if (known === undefined) {
      this.spans.set(incoming.span_id, { row: incoming, stored: null, payload, changed: true });
      return;
    }
    if (!completes(known.row, incoming)) return;
    known.row = completedSpan(known.row, incoming);
    known.payload = mergedPayload(known.payload ?? '', payload);
    known.changed = true;
  }

  setOutcome(success: boolean, outcome: string | undefined): void {
    this.header = { ...this.header, success, outcome: outcome ?? this.header.outcome };
    this.#headerChanged = true;
  }

  /**
   * Ends what this commit does to the trace: the derived values follow the spans.
   *
   * @returns the spans to write, in the order they came, and whether the header is to be written
   */
  settle(seq: number): { readonly spans: readonly SpanState[]; readonly writesHeader: boolean } {
    const changed = [...this.spans.values()].filter((span) => span.changed);
    if (changed.length > 0) {
      this.firstSeq = this.firstSeq === 0 ? seq : this.firstSeq;
      this.lastSeq = seq;
    }
    const writesHeader = this.#headerChanged || changed.length > 0;
    if (writesHeader) this.#followSpans();
    return { spans: changed, writesHeader };
  }

  /** After the commit: what was written is what is stored now. The payloads are let go. */
  committed(seq: number, written: readonly SpanState[]): void {
    this.storedSeq = seq;
    this.#headerChanged = false;
    written.forEach((span, line) => {
      span.stored = { seq, line };
      span.payload = undefined;
      span.changed = false;
    });
  }

  #followSpans(): void {
    const { derived } = this.header;
    if ((derived & (DERIVED.total_tokens | DERIVED.total_cost_usd)) === 0) return;
    const usage = usageOf([...this.spans.values()].map((span) => span.row));
    this.header = { ...this.header };
    if (derived & DERIVED.total_tokens) this.header.total_tokens = usage.total_tokens;
    if (derived & DERIVED.total_cost_usd) this.header.total_cost_usd = usage.total_cost_usd;
  }
}

function completedSpan(stored: SpanRow, incoming: SpanRow): SpanRow {
  const before = declaredSpan(stored);
  const later = declaredSpan(incoming);
  const merged = fillNulls(before, later);
  merged.status = incoming.status;
  merged.derived = before.derived & later.derived;
  endAfterStart(merged);
  merged.total_tokens = totalTokens(merged);
  return merged;
}

/** A header without the values that were only derived. */
function declaredHeader(row: TraceRow): TraceRow {
  const declared = { ...row };
  if (row.derived & DERIVED.duration_ms) declared.duration_ms = null;
  if (row.derived & DERIVED.total_tokens) declared.total_tokens = null;
  if (row.derived & DERIVED.total_cost_usd) declared.total_cost_usd = null;
  return declared;
}

function declaredSpan(row: SpanRow): SpanRow {
  const declared = { ...row };
  if (row.derived & DERIVED.duration_ms) declared.duration_ms = null;
  if (row.derived & DERIVED.total_tokens) declared.total_tokens = null;
  return declared;
}

/** The start is of one message and the end of another: an end before the start is moved to the start. */
function endAfterStart(row: TraceRow | SpanRow): void {
  if (row.ended_at !== null) row.ended_at = Math.max(row.ended_at, row.started_at);
  row.duration_ms ??= durationMs(row.started_at, row.ended_at);
}

function fillNulls<T extends object>(stored: T, later: T): T {
  const merged = { ...stored };
  for (const key of Object.keys(stored) as (keyof T)[]) merged[key] = stored[key] ?? later[key];
  return merged;
}

function mergedPayload(stored: string, later: string): string {
  if (stored === '' || later === '') return stored === '' ? later : stored;
  const parts = later.split(TAB);
  return stored
    .split(TAB)
    .map((part, i) => (part === '' ? (parts[i] ?? '') : part))
    .join(TAB);
}
