/** A span with the fields that usage depends on, without duplicate calls. */
interface Node {
  readonly span_id: string;
  readonly parent_span_id: string | null;
}

/**
 * The rule of usage as the decisions state it, by recursion, for tests: the larger of what a span reports and what is below it; a model
 * call adds what is below its tools and agents. Spans whose parents form a cycle have no parent.
 *
 * @returns null if no span reports the measure
 */
export function recursiveUsage<Span extends Node>(
  spans: readonly Span[],
  measure: (span: Span) => number | null,
  typeOf: (span: Span) => string,
): number | null {
  if (spans.every((span) => measure(span) === null)) return null;
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const parentOf = (span: Span): Span | undefined => byId.get(span.parent_span_id ?? '');
  const isInCycle = (span: Span): boolean => {
    const above = new Set<Span>();
    for (let at = parentOf(span); at !== undefined && !above.has(at); at = parentOf(at)) above.add(at);
    return above.has(span);
  };
  const isTop = (span: Span): boolean => parentOf(span) === undefined || isInCycle(span);
  /** What counts of a span as a part of a model call around it, and what is beyond tools and agents. */
  const totalOf = (span: Span): { readonly within: number; readonly beyond: number } => {
    const totals = spans
      .filter((other) => !isTop(other) && parentOf(other) === span)
      .map((child) => {
        const total = totalOf(child);
        const isApart = ['tool', 'agent'].includes(typeOf(child));
        return isApart ? { within: 0, beyond: total.within + total.beyond } : total;
      });
    const within = totals.reduce((all, of) => all + of.within, 0);
    const beyond = totals.reduce((all, of) => all + of.beyond, 0);
    const own = measure(span) ?? 0;
    if (typeOf(span) === 'llm') return { within: Math.max(own, within), beyond };
    return { within: Math.max(own - beyond, within), beyond };
  };
  return spans
    .filter(isTop)
    .map(totalOf)
    .reduce((all, of) => all + of.within + of.beyond, 0);
}
