import { AGENT_SOURCES, type RunKind, type RunStatus } from '../../signal/span.js';
import type { RunContext } from '../../signal/run-context.js';
import type { Micros } from '../../signal/time.js';
import {
  isWrapper,
  lastOutcome,
  outcomeOf,
  hasOutcome,
  type Outcome,
  type OutcomeSpan,
} from './run-outcome.js';
import { first, isBefore, shallowest, type PlacedSpan } from './shallowest.js';

/** The fields of a span that its run's header depends on. */
export interface HeaderSpan extends OutcomeSpan {
  readonly parent_is_remote: true | null;
  readonly ended_at: Micros | null;
  readonly context: RunContext | null;
}

export interface FollowingHeader {
  readonly agent: string;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
  readonly duration_ms: number | null;
  readonly error_message: string | null;
}

/** The outcome of a run that has not ended. */
export const GOES_ON: Outcome = { status: 'running', error_message: null };
/** The agent of a run in which no span names one. */
const NO_AGENT = 'default';

/**
 * The header of an undeclared run, from all its spans, independent of their order. The root is the topmost span, if {@link isRoot}; until
 * it has ended the run is `running` and has no end. Then it went as {@link outcomeOf} says, and ended with its last span.
 *
 * @param spans at least one
 * @param hasWaited whether the run no longer waits for a root, so that the topmost span counts as one
 */
export function headerOf(
  spans: readonly HeaderSpan[],
  hasWaited = false,
  top = topmost(spans),
): FollowingHeader {
  const root = top !== undefined && (hasWaited || isRoot(top, spans)) ? top : undefined;
  const started_at = spans.reduce((least, span) => Math.min(least, span.started_at), Infinity);
  const hasEnded = root !== undefined && root.status !== 'running';
  const ended_at = hasEnded ? latestEnd(spans) : null;
  const wraps = hasEnded && isWrapper(hasOutcome(root), root.run_kind);
  const outcome = hasEnded ? outcomeOf(root, wraps, () => lastOutcome(spans)) : GOES_ON;
  return {
    agent: agentOf(spans),
    kind: kindOf(top, spans.some(isOfAgent)),
    status: outcome.status,
    started_at,
    ended_at,
    duration_ms: ended_at === null ? null : (ended_at - started_at) / 1000,
    error_message: outcome.error_message,
  };
}

/** Whether a span says that its run is an agent's. */
export function isOfAgent({ run_kind }: Pick<HeaderSpan, 'run_kind'>): boolean {
  return run_kind === 'agent';
}

/**
 * What a run is: an agent's where any of its spans says so, or where the topmost one does not say that it is something else.
 *
 * @param isAnyOfAgent whether any span is {@link isOfAgent}
 */
export function kindOf(top: Pick<HeaderSpan, 'run_kind'> | undefined, isAnyOfAgent: boolean): RunKind {
  return isAnyOfAgent ? 'agent' : (top?.run_kind ?? 'agent');
}

/** The name from the best source; among several such spans that of the topmost, then the earliest, then the smallest id. */
function agentOf(spans: readonly HeaderSpan[]): string {
  let best = Infinity;
  let candidates: HeaderSpan[] = [];
  for (const span of spans) {
    const rank = rankOf(span);
    if (rank > best || rank === Infinity) continue;
    if (rank < best) candidates = [];
    best = rank;
    candidates.push(span);
  }
  const isSame = (one: HeaderSpan, other: HeaderSpan): boolean =>
    one.agent_hint?.name === other.agent_hint?.name;
  return shallowest(spans, candidates, isSame)?.agent_hint?.name ?? NO_AGENT;
}

function rankOf(span: HeaderSpan): number {
  return span.agent_hint === null ? Infinity : AGENT_SOURCES.indexOf(span.agent_hint.source);
}

/**
 * The topmost span: the first without a parent, else without a known one. Of the latter, those whose parent is in another process come
 * first, because the parents of the others may still arrive. In a circle of parents it is the first of all.
 */
export function topmost<Span extends HeaderSpan>(spans: readonly Span[]): Span | undefined {
  const roots = spans.filter((span) => span.parent_span_id === null);
  if (roots.length > 0) return first(roots);
  const known = new Set<string | null>(spans.map((span) => span.span_id));
  const orphans = spans.filter((span) => !known.has(span.parent_span_id));
  const remote = orphans.filter((span) => span.parent_is_remote === true);
  return first([remote, orphans, spans].find((some) => some.length > 0) ?? []);
}

/** Whether the topmost span is a root: it has no parent, or one in another process that is not among the spans. */
function isRoot(top: HeaderSpan, spans: readonly HeaderSpan[]): boolean {
  const parent = top.parent_span_id;
  if (parent === null) return true;
  return top.parent_is_remote === true && !spans.some(({ span_id }) => span_id === parent);
}

/** Whether any span is a root. */
export function hasRoot(spans: readonly HeaderSpan[]): boolean {
  const top = topmost(spans);
  return top !== undefined && isRoot(top, spans);
}

/** Whether all spans have ended. */
export function haveEnded(spans: readonly HeaderSpan[]): boolean {
  return spans.every(({ status }) => status !== 'running');
}

/**
 * The order in which messages of a run lead, so that its metadata is theirs: those with the first span without a parent, else those with
 * the first span. Unlike {@link topmost} it never changes with further spans.
 */
export function isAbove(span: PlacedSpan, other: PlacedSpan): boolean {
  const isRoot = span.parent_span_id === null;
  return isRoot === (other.parent_span_id === null) ? isBefore(span, other) : isRoot;
}

/** Whether the leading span among these and others is one of the others. */
export function isLedBy<Span extends PlacedSpan>(spans: Iterable<Span>, others: readonly Span[]): boolean {
  const lead = leading([...spans, ...others]);
  return lead !== undefined && others.includes(lead);
}

/** The first span in the order of {@link isAbove}. */
export function leading<Span extends PlacedSpan>(spans: readonly Span[]): Span | undefined {
  return spans.reduce<Span | undefined>(
    (lead, span) => (lead === undefined || isAbove(span, lead) ? span : lead),
    undefined,
  );
}

/** The latest time of any span. @param spans at least one */
export function latestEnd(spans: readonly HeaderSpan[]): Micros {
  return spans.reduce((latest, span) => Math.max(latest, span.ended_at ?? span.started_at), -Infinity);
}
