/** Marks a span without a parent among the spans of its trace. */
export const NO_PARENT = -1;

/** Up to this many spans, comparing all is faster than a map of their ids. */
const FEW = 16;

/** The fields that define a span's parent. Ids may have any form in which equal ids are equal texts. */
interface Linked {
  readonly span_id: string;
  readonly parent_span_id: string | null;
}

/**
 * The position of each span's parent, or {@link NO_PARENT}.
 *
 * @param spans of one trace; if several have the same id, the last one counts
 */
export function parentPositions(spans: readonly Linked[]): number[] {
  const find = spans.length <= FEW ? looking(spans) : mapping(spans);
  let id: string | null = null;
  let position = NO_PARENT;
  return spans.map(({ parent_span_id }) => {
    // Siblings are often consecutive.
    if (parent_span_id !== id) {
      id = parent_span_id;
      position = id === null ? NO_PARENT : find(id);
    }
    return position;
  });
}

function looking(spans: readonly Linked[]): (id: string) => number {
  return (id) => {
    let position = spans.length - 1;
    while (position >= 0 && spans[position]?.span_id !== id) position--;
    return position;
  };
}

function mapping(spans: readonly Linked[]): (id: string) => number {
  const positions = new Map(spans.map(({ span_id }, position) => [span_id, position]));
  return (id) => positions.get(id) ?? NO_PARENT;
}
