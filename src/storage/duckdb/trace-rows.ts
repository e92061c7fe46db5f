import type { MapSpan } from '../../signal/trace-map.js';
import { AGENT_SOURCES, RUN_STATUSES } from '../../signal/span.js';
import type { HeaderSpan } from '../../signal/run-header.js';
import type { RowOf } from '../../worker/columns.js';
import { parseUuid, uuidKey } from '../../worker/uuid-words.js';
import { DERIVED } from '../derived.js';
import { SPAN_WIRE, type TRACE_WIRE } from '../tables.js';
import type { UsageNode } from '../usage.js';
import { durationMs, totalTokens } from './encode-traces.js';

/** A header as it is stored. */
export type TraceRow = RowOf<typeof TRACE_WIRE>;

/** A span as it is stored. */
export type SpanRow = RowOf<typeof SPAN_WIRE>;

const FACTS = [
  'span_id',
  'parent_span_id',
  'type',
  'status',
  'started_at',
  'ended_at',
  'error_message',
  'agent_source',
  'agent_name',
  'total_tokens',
  'cost_usd',
] as const;

type SpanColumn = (typeof SPAN_WIRE)[number];
type FactColumn = Extract<SpanColumn, { readonly name: (typeof FACTS)[number] }>;

/** The columns of a span that its trace's header and the service map depend on. */
export const FACT_COLUMNS: readonly FactColumn[] = SPAN_WIRE.filter((column): column is FactColumn =>
  FACTS.some((name) => name === column.name),
);

/**
 * What its trace's header and the service map depend on, of a span. The ids are keys ({@link uuidKey}): very many are kept
 * in memory.
 */
export interface SpanFacts extends HeaderSpan, UsageNode, MapSpan {}

export const RUNNING = RUN_STATUSES.indexOf('running');
export const TIMED_OUT = RUN_STATUSES.indexOf('timed_out');

/** Whether a stored header can still be changed by this message: only a running one, by a terminal status. */
export function completes(stored: TraceRow, incoming: TraceRow): boolean {
  return stored.status === RUNNING && incoming.status !== RUNNING;
}

/** Whether a stored span can still be changed by this message: as of headers. */
export function completesSpan(stored: SpanFacts, incoming: SpanRow): boolean {
  return stored.status === 'running' && incoming.status !== RUNNING;
}

/** @param node the number of its node in the service map */
export function factsOf(row: RowOf<typeof FACT_COLUMNS>, node: number): SpanFacts {
  return {
    span_id: keyOf(row.span_id),
    parent_span_id: row.parent_span_id === null ? null : keyOf(row.parent_span_id),
    type: row.type,
    node,
    status: RUN_STATUSES[row.status] ?? 'completed',
    started_at: row.started_at,
    ended_at: row.ended_at,
    error_message: row.error_message,
    agent_hint: agentHint(row.agent_source, row.agent_name),
    total_tokens: row.total_tokens,
    cost_usd: row.cost_usd,
  };
}

/** The key of an id in text. */
export function keyOf(id: string): string {
  const words = new Uint32Array(4);
  parseUuid(id, words, 0);
  return uuidKey(words, 0);
}

export function agentHint(code: number | null, name: string | null): HeaderSpan['agent_hint'] {
  const source = code === null ? undefined : AGENT_SOURCES[code];
  return source === undefined || name === null ? null : { source, name };
}

/** A running span and the message that completes it: what was null is filled, and the better name of the agent stays. */
export function completedSpan(stored: SpanRow, incoming: SpanRow): SpanRow {
  const before = declaredSpan(stored);
  const later = declaredSpan(incoming);
  const merged = fillNulls(before, later);
  merged.status = incoming.status;
  merged.derived = before.derived & later.derived;
  if ((incoming.agent_source ?? Infinity) < (stored.agent_source ?? Infinity)) {
    merged.agent_source = incoming.agent_source;
    merged.agent_name = incoming.agent_name;
  }
  endAfterStart(merged);
  merged.total_tokens = totalTokens(merged);
  return merged;
}

/** A running header and the one that completes it: what was null is filled. */
export function completedHeader(before: TraceRow, incoming: TraceRow): TraceRow {
  const stored = declaredHeader(before);
  const later = declaredHeader(incoming);
  const merged = fillNulls(stored, later);
  merged.status = incoming.status;
  merged.derived = stored.derived & later.derived;
  endAfterStart(merged);
  return merged;
}

/** A header without the values that were only derived; those that are never null are left as they are. */
export function declaredHeader(row: TraceRow): TraceRow {
  const declared = { ...row };
  if (row.derived & DERIVED.duration_ms) declared.duration_ms = null;
  if (row.derived & DERIVED.total_tokens) declared.total_tokens = null;
  if (row.derived & DERIVED.total_cost_usd) declared.total_cost_usd = null;
  if (row.derived & DERIVED.ended_at) declared.ended_at = null;
  if (row.derived & DERIVED.error_message) declared.error_message = null;
  return declared;
}

function declaredSpan(row: SpanRow): SpanRow {
  const declared = { ...row };
  if (row.derived & DERIVED.duration_ms) declared.duration_ms = null;
  if (row.derived & DERIVED.total_tokens) declared.total_tokens = null;
  return declared;
}

/** The start is of one message and the end of another: an end before the start is moved to the start. */
export function endAfterStart(row: TraceRow | SpanRow): void {
  if (row.ended_at !== null) row.ended_at = Math.max(row.ended_at, row.started_at);
  row.duration_ms ??= durationMs(row.started_at, row.ended_at);
}

export function fillNulls<T extends object>(stored: T, later: T): T {
  const merged = { ...stored };
  for (const key of Object.keys(stored) as (keyof T)[]) merged[key] = stored[key] ?? later[key];
  return merged;
}
