import type { NanoUsd } from '../../signal/money.js';
import { ExactSum } from './exact-sum.js';

/** What the usage of a trace depends on in each of its spans. */
export interface UsageNode {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly total_tokens: number | null;
  readonly cost_usd: NanoUsd | null;
}

/** The largest sum that is kept, the last integer that a double holds exactly: this many tokens, or 9 007 199.254740991 USD. */
export const MOST_USAGE = Number.MAX_SAFE_INTEGER;

export interface Usage {
  /** Null when no span reports any. */
  readonly total_tokens: number | null;
  readonly total_cost_usd: NanoUsd | null;
}

/**
 * A trace's usage from its spans: what a span reports counts only if none of its descendants reports the same
 * measure. An agent span that repeats the sum of its children is not counted twice; tokens and cost are judged
 * apart, because instrumentations often give one at the model call and the other at the agent.
 */
export function usageOf(spans: readonly UsageNode[]): Usage {
  const parents = new Map<string, string>();
  for (const { span_id, parent_span_id } of spans) {
    if (parent_span_id !== null) parents.set(span_id, parent_span_id);
  }
  return usageFrom(
    sumOfDeepest(spans, parents, (span) => span.total_tokens),
    sumOfDeepest(spans, parents, (span) => span.cost_usd),
  );
}

/** Sums of both measures as a trace shows them: no larger than what is kept. */
export function usageFrom(tokens: number | null, cost: NanoUsd | null): Usage {
  return {
    total_tokens: tokens === null ? null : Math.min(tokens, MOST_USAGE),
    total_cost_usd: cost === null ? null : Math.min(cost, MOST_USAGE),
  };
}

function sumOfDeepest(
  spans: readonly UsageNode[],
  parents: ReadonlyMap<string, string>,
  measure: (span: UsageNode) => number | null,
): number | null {
  const reporting = spans.filter((span) => measure(span) !== null);
  if (reporting.length === 0) return null;
  const covered = ancestorsOf(reporting, parents);
  const sum = new ExactSum();
  for (const span of reporting) {
    const value = measure(span);
    if (value !== null && !covered.has(span.span_id)) sum.add(value);
  }
  return sum.value;
}

/** The ids above any of `reporting`. A walk ends at an id it met before, so it also ends in a ring of parents. */
function ancestorsOf(
  reporting: readonly UsageNode[],
  parents: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const above = new Set<string>();
  for (const span of reporting) {
    let id = span.parent_span_id;
    while (id !== null && !above.has(id)) {
      above.add(id);
      id = parents.get(id) ?? null;
    }
  }
  return above;
}
