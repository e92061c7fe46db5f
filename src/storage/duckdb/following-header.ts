import { RUN_STATUSES } from '../../signal/span.js';
import { DERIVED } from '../derived.js';
import type { RunFacts } from './spans/run-spans.js';
import { declaredHeader, endAfterStart, fillNulls, RUNNING, TIMED_OUT, type TraceRow } from './trace-rows.js';

/**
 * Headers that follow from the spans, wholly or in what a declared header that is still running leaves open. Rules:
 * `README.md`, "Runs that nobody declared".
 */

/** A header and the name of its agent. */
export interface NamedHeader {
  readonly header: TraceRow;
  readonly agent: string;
}

/** What is derived of declared headers, too. */
const TOTALS = DERIVED.duration_ms | DERIVED.total_tokens | DERIVED.total_cost_usd;

/** Whether the spans say how the run goes. */
export function followsSpans(header: TraceRow): boolean {
  return (header.derived & DERIVED.status) !== 0;
}

function isDeclared(header: TraceRow): boolean {
  return (header.derived & DERIVED.agent) === 0;
}

/**
 * A following header came for a stored trace.
 *
 * @param leads whether it came with the topmost span of the run, so that its metadata is the run's
 * @returns `stored` itself where it says nothing new
 */
export function followedBy(stored: TraceRow, incoming: TraceRow, leads: boolean): TraceRow {
  // Declared, and final.
  if (!followsSpans(stored) && stored.status !== RUNNING) return stored;
  const [before, after] = leads && !isDeclared(stored) ? [incoming, stored] : [stored, incoming];
  const merged = {
    ...stored,
    success: stored.success ?? incoming.success,
    outcome: stored.outcome ?? incoming.outcome,
    metadata: before.metadata ?? after.metadata,
    sdk_version: before.sdk_version ?? after.sdk_version,
    idle_timeout_ms: stored.idle_timeout_ms ?? incoming.idle_timeout_ms,
    derived: followsSpans(stored) ? stored.derived : leavesOpen(stored),
  };
  const isNew = (Object.keys(merged) as (keyof TraceRow)[]).some((key) => merged[key] !== stored[key]);
  return isNew ? merged : stored;
}

/** A declared header came for a trace whose header follows the spans. @returns `stored` itself where it says nothing new */
export function declaredBy(stored: NamedHeader, incoming: NamedHeader): NamedHeader {
  const known = declaredHeader(stored.header);
  const later = declaredHeader(incoming.header);
  if (!isDeclared(stored.header)) {
    const { success, outcome } = fillNulls(known, later);
    const merged = { ...fillNulls(later, known), success, outcome };
    return { header: opened(merged, later.derived), agent: incoming.agent };
  }
  if (later.status === RUNNING) return stored;
  const merged = { ...fillNulls(known, later), status: later.status };
  return { header: opened(merged, known.derived & later.derived), agent: stored.agent };
}

/** @param derived of the declared headers that were merged */
function opened(merged: TraceRow, derived: number): TraceRow {
  const header = { ...merged, derived: derived & TOTALS };
  if (header.status === RUNNING) header.derived = leavesOpen(header);
  endAfterStart(header);
  return header;
}

/** The bits of a declared header that is running: the status follows the spans, and what is null beside it. */
function leavesOpen({ derived, ended_at, error_message }: TraceRow): number {
  return (
    derived |
    DERIVED.status |
    (ended_at === null ? DERIVED.ended_at : 0) |
    (error_message === null ? DERIVED.error_message : 0)
  );
}

/** The header as all spans of the trace give it, in whatever its `derived` says. */
export function settledBySpans({ header, agent }: NamedHeader, spans: RunFacts): NamedHeader {
  const { derived } = header;
  const next = { ...header };
  if (derived & (DERIVED.total_tokens | DERIVED.total_cost_usd)) {
    const usage = spans.usage();
    if (derived & DERIVED.total_tokens) next.total_tokens = usage.total_tokens;
    if (derived & DERIVED.total_cost_usd) next.total_cost_usd = usage.total_cost_usd;
  }
  // Without any span there is nothing to follow yet.
  if (!followsSpans(header) || spans.size === 0) return { header: next, agent };
  const given = spans.header();
  next.status = RUN_STATUSES.indexOf(given.status);
  if (derived & DERIVED.started_at) next.started_at = given.started_at;
  setEnd(next, given.ended_at);
  if (derived & DERIVED.error_message) next.error_message = given.error_message;
  return { header: next, agent: derived & DERIVED.agent ? given.agent : agent };
}

/** A run that follows its spans and has not ended: timed out for now, at the latest end of what came. */
export function timedOut(header: TraceRow, spans: RunFacts): TraceRow {
  const next = { ...header, status: TIMED_OUT };
  setEnd(next, spans.size === 0 ? header.started_at : spans.latestEnd());
  return next;
}

function setEnd(header: TraceRow, endedAt: number | null): void {
  if (header.derived & DERIVED.ended_at) header.ended_at = endedAt;
  if (header.derived & DERIVED.duration_ms) header.duration_ms = null;
  endAfterStart(header);
}

/**
 * Whether the agent that the header names is the run's for certain, so that it comes into being: the header is declared,
 * the run's root is there, or the run is over for want of news.
 */
export function namesItsAgent(header: TraceRow, spans: { readonly hasRoot: boolean }): boolean {
  return isDeclared(header) || header.status === TIMED_OUT || spans.hasRoot;
}
