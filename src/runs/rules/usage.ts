import type { NanoUsd } from '../../signal/money.js';
import { ExactSum } from './exact-sum.js';
import {
  COUNTS,
  haveSeveralReporters,
  withoutLogged,
  duplicateCalls,
  WHOLE,
  type CallSpan,
  type DuplicateCall,
} from './duplicate-calls.js';

/** The fields of a span that its trace's usage depends on. */
export type UsageNode = CallSpan;

/** The largest sum that is kept, the last integer that a double holds exactly: this many tokens, or 9 007 199.254740991 USD. */
export const MOST_USAGE = Number.MAX_SAFE_INTEGER;

export interface Usage {
  /** Null when no span reports any. */
  readonly total_tokens: number | null;
  readonly total_cost_usd: NanoUsd | null;
}

const NO_DUPLICATES: ReadonlyMap<string, DuplicateCall> = new Map();

/**
 * A trace's usage from its spans: what a span reports counts only if none of its descendants reports the same measure. An agent span that
 * repeats the sum of its children is not counted twice; tokens and cost are judged apart, because instrumentations often give one at the
 * model call and the other at the agent. If several spans report a call, one counts: `duplicate-calls.ts`.
 */
export function usageOf(spans: readonly UsageNode[]): Usage {
  return countedOnce(spans).usage;
}

/** The same, and the counted parts of the spans of which not everything counts, by id. */
export function countedOnce(all: readonly UsageNode[]): {
  readonly usage: Usage;
  readonly duplicates: ReadonlyMap<string, DuplicateCall>;
} {
  const { own: spans, logged } = withoutLogged(all);
  const parents = new Map<string, string>();
  for (const { span_id, parent_span_id } of spans) {
    if (parent_span_id !== null) parents.set(span_id, parent_span_id);
  }
  const covered = { tokens: coveredIn(spans, parents, tokensOf), cost: coveredIn(spans, parents, costOf) };
  const duplicates = haveSeveralReporters(keysOf(spans)) ? duplicateCalls(spans, covered) : NO_DUPLICATES;
  const counts = (span: UsageNode, bit: number): boolean =>
    ((duplicates.get(span.span_id)?.counted ?? WHOLE) & bit) !== 0;
  const tokens = sumOf(
    spans,
    tokensOf,
    (span) => !covered.tokens.has(span.span_id) && counts(span, COUNTS.call),
  );
  const cost = sumOf(spans, costOf, (span) => !covered.cost.has(span.span_id) && counts(span, COUNTS.cost));
  const usage = usageFrom(tokens, cost);
  if (logged.size === 0) return { usage, duplicates };
  const left = [...logged].map(([id, same_as]) => [id, { same_as, counted: 0 }] as const);
  return { usage, duplicates: new Map([...duplicates, ...left]) };
}

function* keysOf(spans: readonly UsageNode[]): Generator<string | null> {
  for (const { call_key } of spans) yield call_key;
}

function tokensOf(span: UsageNode): number | null {
  return span.total_tokens;
}

function costOf(span: UsageNode): number | null {
  return span.cost_usd;
}

/** Sums of both measures as a trace shows them: no larger than what is kept. */
export function usageFrom(tokens: number | null, cost: NanoUsd | null): Usage {
  return {
    total_tokens: tokens === null ? null : Math.min(tokens, MOST_USAGE),
    total_cost_usd: cost === null ? null : Math.min(cost, MOST_USAGE),
  };
}

/** Null if no span reports any. */
function sumOf(
  spans: readonly UsageNode[],
  measure: (span: UsageNode) => number | null,
  counts: (span: UsageNode) => boolean,
): number | null {
  let sum: ExactSum | null = null;
  for (const span of spans) {
    const value = measure(span);
    if (value === null) continue;
    sum ??= new ExactSum();
    if (counts(span)) sum.add(value);
  }
  return sum?.value ?? null;
}

/** The ids above any span that reports the measure. A walk ends at an id it met before, so it also ends in a cycle of parents. */
function coveredIn(
  spans: readonly UsageNode[],
  parents: ReadonlyMap<string, string>,
  measure: (span: UsageNode) => number | null,
): ReadonlySet<string> {
  const above = new Set<string>();
  for (const span of spans) {
    if (measure(span) === null) continue;
    let id = span.parent_span_id;
    while (id !== null && !above.has(id)) {
      above.add(id);
      id = parents.get(id) ?? null;
    }
  }
  return above;
}
