import type { StoredSpan } from './stored-runs.js';

/** Depth first, each span before its children, siblings by their start. Rings of parents, which nothing leads to, come last. */
export function inOrder(
  spans: readonly StoredSpan[],
): { readonly span: StoredSpan; readonly depth: number }[] {
  const sorted = spans.toSorted(
    (a, b) => a.row.started_at - b.row.started_at || (a.row.span_id < b.row.span_id ? -1 : 1),
  );
  const ids = new Set(sorted.map(({ row }) => row.span_id));
  const children = new Map<string | null, StoredSpan[]>();
  for (const span of sorted) {
    const parent = span.row.parent_span_id;
    const under = parent !== null && ids.has(parent) ? parent : null;
    children.set(under, [...(children.get(under) ?? []), span]);
  }
  const found: { span: StoredSpan; depth: number }[] = [];
  const seen = new Set<string>();
  const walk = (from: readonly StoredSpan[]): void => {
    const waiting = from.toReversed().map((span) => ({ span, depth: 0 }));
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { span, depth } = next;
      if (seen.has(span.row.span_id)) continue;
      seen.add(span.row.span_id);
      found.push(next);
      for (const child of (children.get(span.row.span_id) ?? []).toReversed())
        waiting.push({ span: child, depth: depth + 1 });
    }
  };
  walk(children.get(null) ?? []);
  for (const span of sorted) walk([span]);
  return found;
}
