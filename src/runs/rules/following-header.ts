import { DIMENSIONS } from '../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import { tagsKey } from './context-of-spans.js';
import {
  AWAITS_ROOT,
  CONTEXT,
  DERIVED,
  HAS_FAILED,
  REMOTE_VERDICT,
  SCORED,
  SCORED_OUTCOME,
} from './derived.js';
import type { RunFacts } from './run-facts.js';
import {
  besides,
  completedHeader,
  completes,
  declaredHeader,
  endAfterStart,
  fillNulls,
} from './completion.js';
import { RUNNING, TIMED_OUT, type HeaderRow } from './rows.js';

/**
 * Headers derived from the spans, fully or for the values that a running declared header leaves open. Rules: `../README.md`, "Runs that
 * nobody declared".
 */

/** A header and the name of its agent. */
export interface NamedHeader {
  readonly header: HeaderRow;
  readonly agent: string;
}

/** Values that are also derived in declared headers. */
const TOTALS = DERIVED.duration_ms | DERIVED.total_tokens | DERIVED.total_cost_usd | CONTEXT;

/** Bits of a following header that remain when it is declared. */
const KEPT = REMOTE_VERDICT | HAS_FAILED | SCORED | SCORED_OUTCOME;

/** Whether the spans determine the run's status. */
export function followsSpans(header: HeaderRow): boolean {
  return (header.derived & DERIVED.status) !== 0;
}

function isDeclared(header: HeaderRow): boolean {
  return (header.derived & DERIVED.agent) === 0;
}

/**
 * Applies another header of a stored run. A declared one completes a running one, and otherwise changes nothing.
 *
 * @param leads called for a following header; returns whether it came with the topmost span of the run
 * @returns `before` itself if nothing changes
 */
export function withHeader(before: NamedHeader, incoming: NamedHeader, leads: () => boolean): NamedHeader {
  if (followsSpans(incoming.header))
    return withRow(before, followedBy(before.header, incoming.header, leads()));
  if (followsSpans(before.header)) return declaredBy(before, incoming);
  const header = sampled(before.header, incoming.header);
  return withRow(
    before,
    completes(header, incoming.header) ? completedHeader(header, incoming.header) : header,
  );
}

function withRow(named: NamedHeader, header: HeaderRow): NamedHeader {
  return header === named.header ? named : { ...named, header };
}

/**
 * Applies a following header to a stored trace.
 *
 * @param leads whether it came with the topmost span of the run, so that its metadata is the run's
 * @returns `stored` itself if nothing changes
 */
function followedBy(stored: HeaderRow, incoming: HeaderRow, leads: boolean): HeaderRow {
  // The stored header is declared and final.
  if (!followsSpans(stored) && stored.status !== RUNNING) return sampled(stored, incoming);
  const [before, after] = leads && !isDeclared(stored) ? [incoming, stored] : [stored, incoming];
  const known = besides(incoming, stored);
  const derived = followsSpans(stored) ? known.derived : leavesOpen(known);
  const { success, outcome, bit } = verdictOf(known, incoming);
  const merged = {
    ...stored,
    success,
    outcome,
    metadata: before.metadata ?? after.metadata,
    sdk_version: before.sdk_version ?? after.sdk_version,
    idle_timeout_ms: stored.idle_timeout_ms ?? incoming.idle_timeout_ms,
    orphan_wait_ms: stored.orphan_wait_ms ?? incoming.orphan_wait_ms,
    sample_rate: surerRate(stored, incoming),
    derived: (derived & ~REMOTE_VERDICT) | bit,
  };
  const isNew = (Object.keys(merged) as (keyof HeaderRow)[]).some((key) => merged[key] !== stored[key]);
  return isNew ? merged : stored;
}

/** The first verdict, unless it comes from a span with a remote parent and a root's follows. */
function verdictOf(
  stored: HeaderRow,
  incoming: HeaderRow,
): Pick<HeaderRow, 'success' | 'outcome'> & { readonly bit: number } {
  const isRoots = hasVerdict(incoming) && (incoming.derived & REMOTE_VERDICT) === 0;
  const isReplaced = isRoots && (stored.derived & REMOTE_VERDICT) !== 0;
  const [first, second] = isReplaced || !hasVerdict(stored) ? [incoming, stored] : [stored, incoming];
  const contradict = first.success !== null && second.success !== null && first.success !== second.success;
  return {
    success: first.success ?? second.success,
    outcome: first.outcome ?? (contradict ? null : second.outcome),
    bit: first.derived & REMOTE_VERDICT,
  };
}

function hasVerdict({ success, outcome }: HeaderRow): boolean {
  return success !== null || outcome !== null;
}

/** Applies a declared header to a trace whose header follows the spans. @returns `stored` itself if nothing changes */
function declaredBy(stored: NamedHeader, incoming: NamedHeader): NamedHeader {
  const known = declaredHeader(besides(incoming.header, stored.header));
  const later = declaredHeader(incoming.header);
  const sample_rate = surerRate(known, later);
  if (!isDeclared(stored.header)) {
    const { success, outcome } = fillNulls(known, later);
    const merged = { ...fillNulls(later, known), success, outcome, sample_rate };
    const bits = known.derived & KEPT;
    return { header: opened(merged, later.derived | bits), agent: incoming.agent };
  }
  if (later.status === RUNNING) return withRow(stored, sampled(stored.header, later));
  const merged = { ...fillNulls(known, later), status: later.status, sample_rate };
  const bits = known.derived & (SCORED | SCORED_OUTCOME);
  return { header: opened(merged, (known.derived & later.derived) | bits), agent: stored.agent };
}

/** The header with the sample rate of another one. @returns the header itself if nothing changes */
function sampled(stored: HeaderRow, incoming: HeaderRow): HeaderRow {
  const sample_rate = surerRate(stored, incoming);
  return sample_rate === stored.sample_rate ? stored : { ...stored, sample_rate };
}

/** The larger rate: if one part of a run was kept because of its content, so was the run. Independent of the order of the parts. */
function surerRate(one: HeaderRow, other: HeaderRow): number | null {
  if (one.sample_rate === null || other.sample_rate === null) return one.sample_rate ?? other.sample_rate;
  return Math.max(one.sample_rate, other.sample_rate);
}

/** @param derived the bits of the declared headers that were merged */
function opened(merged: HeaderRow, derived: number): HeaderRow {
  const header = { ...merged, derived: derived & (TOTALS | KEPT) };
  if (header.status === RUNNING) header.derived = leavesOpen(header);
  endAfterStart(header);
  return header;
}

/** The bits of a running declared header: the status follows the spans, and so do end and error if null. */
function leavesOpen({ derived, ended_at, error_message }: HeaderRow): number {
  return (
    derived |
    DERIVED.status |
    (ended_at === null ? DERIVED.ended_at : 0) |
    (error_message === null ? DERIVED.error_message : 0)
  );
}

/** The header with all values named in `derived` taken from the spans. */
export function withDerivedValues({ header, agent }: NamedHeader, spans: RunFacts): NamedHeader {
  const { derived } = header;
  const next = { ...header };
  if (derived & (DERIVED.total_tokens | DERIVED.total_cost_usd)) {
    const usage = spans.usage();
    if (derived & DERIVED.total_tokens) next.total_tokens = usage.total_tokens;
    if (derived & DERIVED.total_cost_usd) next.total_cost_usd = usage.total_cost_usd;
  }
  if (derived & CONTEXT) {
    const context = spans.context();
    if (derived & DERIVED.session_id) next.session_id = context.session_id;
    if (derived & DERIVED.user_id) next.user_id = context.user_id;
    if (derived & DERIVED.tags) next.tags = tagsKey(context);
    for (const field of DIMENSIONS) if (derived & DERIVED[field]) next[field] = context[field];
  }
  // Without spans there is nothing to follow yet.
  if (!followsSpans(header) || spans.size === 0) return { header: next, agent };
  const given = spans.header();
  next.status = RUN_STATUSES.indexOf(given.status);
  const awaitsRoot = next.status === RUNNING && spans.haveEnded;
  next.derived = (derived & ~AWAITS_ROOT) | (awaitsRoot ? AWAITS_ROOT : 0);
  if (derived & DERIVED.agent) next.kind = RUN_KINDS.indexOf(given.kind);
  if (derived & DERIVED.started_at) next.started_at = given.started_at;
  setEnd(next, given.ended_at);
  if (derived & DERIVED.error_message) next.error_message = given.error_message;
  return { header: next, agent: derived & DERIVED.agent ? given.agent : agent };
}

/** Whether all spans of a running run have ended, so that only a root is missing. */
export function awaitsRoot(header: HeaderRow): boolean {
  return header.status === RUNNING && followsSpans(header) && (header.derived & AWAITS_ROOT) !== 0;
}

/** When a run with its last new data at `lastSeenAt` no longer waits for more: see {@link timedOut}; null for never. */
export function timesOutAt(header: HeaderRow, lastSeenAt: Micros): Micros | null {
  if (header.status !== RUNNING || !followsSpans(header)) return null;
  const wait = awaitsRoot(header)
    ? (header.orphan_wait_ms ?? header.idle_timeout_ms)
    : header.idle_timeout_ms;
  return wait === null ? null : lastSeenAt + wait * 1000;
}

/**
 * A running run that follows its spans, after it received nothing for too long. If it only awaits a root, it ends as if its topmost span
 * were one; otherwise it is provisionally timed out. It ends at its latest time.
 */
export function timedOut(header: HeaderRow, spans: RunFacts): HeaderRow {
  const next = { ...header, status: TIMED_OUT, derived: header.derived & ~AWAITS_ROOT };
  // Headers of older versions have no bit for it.
  if (spans.size === 0 || !spans.haveEnded) {
    setEnd(next, spans.size === 0 ? header.started_at : spans.latestEnd());
    return next;
  }
  const given = spans.header(true);
  next.status = RUN_STATUSES.indexOf(given.status);
  setEnd(next, given.ended_at);
  if (header.derived & DERIVED.error_message) next.error_message = given.error_message;
  return next;
}

function setEnd(header: HeaderRow, endedAt: number | null): void {
  if (header.derived & DERIVED.ended_at) header.ended_at = endedAt;
  if (header.derived & DERIVED.duration_ms) header.duration_ms = null;
  endAfterStart(header);
}

/**
 * Whether the run certainly belongs to the header's agent, so that the agent is created: the header is declared, the root has arrived, or
 * the run is no longer running.
 */
export function namesItsAgent(header: HeaderRow, spans: { readonly hasRoot: boolean }): boolean {
  return isDeclared(header) || header.status !== RUNNING || spans.hasRoot;
}
