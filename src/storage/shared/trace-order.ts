import { startNanosOf } from '../../signal/sent-span.js';

/** The values that determine the order of spans. */
export interface OrderedSpan {
  readonly started_at: unknown;
  readonly span_id: unknown;
  readonly parent_span_id: unknown;
  /** The received span, if it was stored and read. */
  readonly sent: Uint8Array | null;
}

/**
 * The spans of a page, sorted by start in microseconds, then id, in the order of a trace: by start in nanoseconds as sent, then depth,
 * then id. Clients with coarse clocks start a span and its parent at the same time. Depths count the ancestors on the page, which are all
 * ancestors if the run fits on a page.
 */
export function inTraceOrder<Span>(
  spans: readonly Span[],
  about: (span: Span) => OrderedSpan,
): readonly Span[] {
  const all = spans.map(about);
  const isTied = (i: number): boolean => all[i]?.started_at === all[i + 1]?.started_at;
  if (!all.some((_, i) => i + 1 < all.length && isTied(i))) return spans;
  const parents = new Map(all.map(({ span_id, parent_span_id }) => [span_id, parent_span_id]));
  const depthOf = (id: unknown): number => {
    const above = new Set<unknown>();
    for (let at = parents.get(id); parents.has(at) && !above.has(at); at = parents.get(at)) above.add(at);
    return above.size;
  };
  const ranks = all.map(({ started_at, span_id, sent }, i) => {
    const isAlone = !(isTied(i) || (i > 0 && isTied(i - 1)));
    const nanos = isAlone || sent === null ? 0 : startNanosOf(sent);
    return { i, start: Number(started_at), nanos, depth: isAlone ? 0 : depthOf(span_id) };
  });
  // The sort is stable, so the ids decide last.
  ranks.sort((a, b) => a.start - b.start || a.nanos - b.nanos || a.depth - b.depth);
  return ranks.flatMap(({ i }) => spans.slice(i, i + 1));
}
