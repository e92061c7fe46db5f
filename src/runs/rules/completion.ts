import { filledCallKey } from '../../signal/call-key.js';
import { filledContext, parseContext, serializeContext, DIMENSIONS } from '../../signal/run-context.js';
import { serializeCall, storedCall } from '../../signal/call-details.js';
import { DERIVED, REMOTE_PARENT, REMOTE_VERDICT, SCORED, SCORED_OUTCOME } from './derived.js';
import { RUNNING, type FactRow, type HeaderRow } from './rows.js';
import type { SpanFacts } from './span-facts.js';

/** Completion of headers and spans: a later message only fills what a running one left open. */

/** Whether a stored header can still be changed by this message: only a running one, by a terminal status. */
export function completes(stored: HeaderRow, incoming: HeaderRow): boolean {
  return stored.status === RUNNING && incoming.status !== RUNNING;
}

/** Whether a stored span can still be changed by this message; the same as for headers. */
export function completesSpan(stored: SpanFacts, incoming: Pick<FactRow, 'status'>): boolean {
  return stored.status === 'running' && incoming.status !== RUNNING;
}

/** Completes a running span: fills nulls, and keeps the better agent name and the more certain kind. */
export function completedSpan<Row extends FactRow>(stored: Row, incoming: Row): Row {
  const before = declaredSpan(stored);
  const later = declaredSpan(incoming);
  const merged = fillNulls(before, later);
  const facts: FactRow = merged;
  facts.status = incoming.status;
  const withParent = before.parent_span_id === null ? incoming : stored;
  facts.derived = (before.derived & later.derived & ~REMOTE_PARENT) | (withParent.derived & REMOTE_PARENT);
  if ((incoming.agent_source ?? Infinity) < (stored.agent_source ?? Infinity)) {
    facts.agent_source = incoming.agent_source;
    facts.agent_name = incoming.agent_name;
  }
  facts.run_kind = surerKind(before.run_kind, later.run_kind);
  facts.context = filledText(before.context, later.context);
  facts.call_details = completedCall(stored, incoming);
  facts.call_key = filledCallKey(before.call_key, later.call_key);
  endAfterStart(facts);
  facts.total_tokens = totalTokens(facts);
  return merged;
}

function filledText(before: string | null, later: string | null): string | null {
  if (before === null || later === null || before === later) return before ?? later;
  const filled = filledContext(parseContext(before), parseContext(later));
  return filled && serializeContext(filled);
}

/** Fills missing parts of the usage and the first chunk; the cost details belong to the cost that is kept. */
function completedCall(stored: FactRow, later: FactRow): string | null {
  const [before, after] = [stored.call_details, later.call_details].map(storedCall);
  const withCost = stored.cost_usd === null ? after : before;
  const first = before?.time_to_first_chunk_ms ?? after?.time_to_first_chunk_ms;
  return serializeCall({
    ...(first === undefined ? {} : { time_to_first_chunk_ms: first }),
    usage: before?.usage || after?.usage ? { ...after?.usage, ...before?.usage } : null,
    cost: withCost?.cost ?? null,
  });
}

/** An agent's kind takes precedence. Both are positions in `RUN_KINDS`. */
function surerKind(before: number | null, later: number | null): number | null {
  return before === null || later === null ? (before ?? later) : Math.min(before, later);
}

/** Completes a running header: fills nulls. */
export function completedHeader(before: HeaderRow, incoming: HeaderRow): HeaderRow {
  const stored = declaredHeader(besides(incoming, before));
  const later = declaredHeader(incoming);
  const merged = fillNulls(stored, later);
  merged.status = incoming.status;
  merged.derived = (stored.derived & later.derived) | (stored.derived & (SCORED | SCORED_OUTCOME));
  endAfterStart(merged);
  return merged;
}

/** A header with the outcome set by its owner, which no message replaces. @param outcome undefined to leave it unchanged */
export function withOutcome(header: HeaderRow, success: boolean, outcome: string | undefined): HeaderRow {
  const derived = header.derived & ~(REMOTE_VERDICT | SCORED | SCORED_OUTCOME);
  return { ...header, success, outcome: outcome ?? header.outcome, derived };
}

/** A header without what a score said. */
export function withoutScore(header: HeaderRow): HeaderRow {
  const { derived } = header;
  if ((derived & SCORED) === 0) return header;
  return {
    ...header,
    success: null,
    outcome: (derived & SCORED_OUTCOME) === 0 ? header.outcome : null,
    derived: derived & ~(REMOTE_VERDICT | SCORED | SCORED_OUTCOME),
  };
}

/** A stored header next to an incoming one, whose success counts before that of a score. */
export function besides(incoming: HeaderRow, stored: HeaderRow): HeaderRow {
  return incoming.success === null ? stored : withoutScore(stored);
}

/** A header without derived values; values that are never null are unchanged. */
export function declaredHeader(row: HeaderRow): HeaderRow {
  const declared = { ...row };
  if (row.derived & DERIVED.duration_ms) declared.duration_ms = null;
  if (row.derived & DERIVED.total_tokens) declared.total_tokens = null;
  if (row.derived & DERIVED.total_cost_usd) declared.total_cost_usd = null;
  if (row.derived & DERIVED.ended_at) declared.ended_at = null;
  if (row.derived & DERIVED.error_message) declared.error_message = null;
  if (row.derived & DERIVED.session_id) declared.session_id = null;
  if (row.derived & DERIVED.user_id) declared.user_id = null;
  if (row.derived & DERIVED.tags) declared.tags = null;
  for (const field of DIMENSIONS) if (row.derived & DERIVED[field]) declared[field] = null;
  return declared;
}

function declaredSpan<Row extends FactRow>(row: Row): Row {
  const declared = { ...row };
  const facts: FactRow = declared;
  if (row.derived & DERIVED.duration_ms) facts.duration_ms = null;
  if (row.derived & DERIVED.total_tokens) facts.total_tokens = null;
  return declared;
}

/** The start may come from one message and the end from another: an end before the start is moved to the start. */
export function endAfterStart(row: HeaderRow | FactRow): void {
  if (row.ended_at !== null) row.ended_at = Math.max(row.ended_at, row.started_at);
  row.duration_ms ??= durationMs(row.started_at, row.ended_at);
}

/** The first row, with nulls filled from the second. */
export function fillNulls<T extends object>(stored: T, later: T): T {
  const merged = { ...stored };
  for (const key of Object.keys(stored) as (keyof T)[]) merged[key] = stored[key] ?? later[key];
  return merged;
}

/** Microseconds between two times, in milliseconds; null without an end. */
export function durationMs(startedAt: number, endedAt: number | null): number | null {
  return endedAt === null ? null : (endedAt - startedAt) / 1000;
}

/** The tokens that a span declares, else those of its parts; null when it reports none. */
export function totalTokens(span: {
  readonly total_tokens: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}): number | null {
  if (span.total_tokens !== null) return span.total_tokens;
  if (span.input_tokens === null && span.output_tokens === null) return null;
  return Math.min((span.input_tokens ?? 0) + (span.output_tokens ?? 0), Number.MAX_SAFE_INTEGER);
}
