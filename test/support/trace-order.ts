interface Placed {
  readonly span_id: string;
  readonly parent_span_id: string | null;
}

/** Compares spans of a trace that start in the same microsecond: by depth, then id. @param spans all of the trace */
export function byDepth(spans: Iterable<Placed>): (a: Placed, b: Placed) => number {
  const known = new Map([...spans].map((span) => [span.span_id, span]));
  const depth = ({ parent_span_id: parent }: Placed): number => {
    const above: string[] = [];
    for (let id = parent; id !== null && known.has(id) && !above.includes(id);) {
      above.push(id);
      id = known.get(id)?.parent_span_id ?? null;
    }
    return above.length;
  };
  return (a, b) => depth(a) - depth(b) || (a.span_id < b.span_id ? -1 : 1);
}
