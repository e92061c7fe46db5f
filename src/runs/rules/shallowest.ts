import { invariant } from '../../signal/checked.js';
import type { Micros } from '../../signal/time.js';

/** The position of a span in its run. */
export interface PlacedSpan {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly started_at: Micros;
}

/**
 * Of some spans of a run the topmost, then the earliest, then that of the least id.
 *
 * @param spans all of the run
 * @param isSame whether two candidates are interchangeable
 * @returns undefined without a candidate
 */
export function shallowest<Span extends PlacedSpan>(
  spans: readonly PlacedSpan[],
  candidates: readonly Span[],
  isSame: (one: Span, other: Span) => boolean,
): Span | undefined {
  const [any] = candidates;
  // Usually the name of a service, or one session, the same on each of its spans.
  if (any === undefined || candidates.every((span) => isSame(span, any))) return any;
  const known = new Set(spans.map((span) => span.span_id));
  const tops = candidates.filter(({ parent_span_id: id }) => id === null || !known.has(id));
  if (tops.length > 0) return first(tops);
  const depths = depthsOf(spans);
  const depth = (span: PlacedSpan): number => invariant(depths.get(span.span_id), 'depth of a span');
  const least = candidates.reduce((min, span) => Math.min(min, depth(span)), Infinity);
  return first(candidates.filter((span) => depth(span) === least));
}

/** The first by their starts, then by their ids. */
export function first<Span extends PlacedSpan>(spans: readonly Span[]): Span | undefined {
  return spans.reduce<Span | undefined>(
    (least, span) => (least === undefined || isBefore(span, least) ? span : least),
    undefined,
  );
}

export function isBefore(a: PlacedSpan, b: PlacedSpan): boolean {
  return a.started_at === b.started_at ? a.span_id < b.span_id : a.started_at < b.started_at;
}

/**
 * How many known ancestors each span has, by its id; in a cycle of parents each span has all of the cycle. Every span is visited once,
 * because chains may be thousands of spans deep.
 */
function depthsOf(spans: readonly PlacedSpan[]): ReadonlyMap<string, number> {
  const parents = new Map(spans.map((span) => [span.span_id, span.parent_span_id]));
  const depths = new Map<string, number>();
  for (const { span_id } of spans) {
    const path = new Map<string, number>();
    let id: string | null = span_id;
    while (id !== null && parents.has(id) && !depths.has(id) && !path.has(id)) {
      path.set(id, path.size);
      id = parents.get(id) ?? null;
    }
    const walked = [...path.keys()];
    // The path met itself: the spans since then form a cycle.
    const ring = id === null ? undefined : path.get(id);
    if (ring !== undefined) for (const member of walked.splice(ring)) depths.set(member, path.size - ring);
    let depth = id === null ? -1 : (depths.get(id) ?? -1);
    for (const below of walked.reverse()) depths.set(below, ++depth);
  }
  return depths;
}
