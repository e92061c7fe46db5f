import type { Repeat } from './fold.js';
import type { TreeNode } from './tree.js';

/** A row of the grid: a span, or repeats of one folded together. */
export type Row =
  | { readonly kind: 'span'; readonly node: TreeNode; readonly level: number; readonly isOpen: boolean }
  | {
      readonly kind: 'repeat';
      readonly node: TreeNode;
      readonly level: number;
      readonly repeat: Repeat;
      readonly isOpen: boolean;
    };

export interface Shown {
  /** Positions of spans whose children are hidden. */
  readonly closed: ReadonlySet<number>;
  /** Repeats that may be folded; none: all are shown one by one. */
  readonly repeats: ReadonlyMap<number, Repeat>;
  /** Those of them that are open, by their first span. */
  readonly openRepeats: ReadonlySet<number>;
}

/** @returns the rows that are there with what is closed and folded, in the order of the tree */
export function visibleRows(
  nodes: readonly TreeNode[],
  { closed, repeats, openRepeats }: Shown,
): readonly Row[] {
  const rows: Row[] = [];
  /** How far the levels of what lies before these positions are moved to the right by open repeats. */
  const shifts: { readonly until: number; readonly by: number }[] = [];
  for (let at = 0; at < nodes.length;) {
    const node = nodes[at];
    if (!node) break;
    while ((shifts.at(-1)?.until ?? Infinity) <= at) shifts.pop();
    const level = node.depth + 1 + (shifts.at(-1)?.by ?? 0);
    const repeat = repeats.get(at);
    const behind = repeat === undefined ? at : (nodes[repeat.members.at(-1) ?? at]?.subtreeEnd ?? at);
    if (repeat) {
      const isOpen = openRepeats.has(at);
      rows.push({ kind: 'repeat', node, level, repeat, isOpen });
      if (!isOpen) {
        at = behind;
        continue;
      }
      shifts.push({ until: behind, by: (shifts.at(-1)?.by ?? 0) + 1 });
    }
    const isOpen = !closed.has(at);
    rows.push({ kind: 'span', node, level: repeat ? level + 1 : level, isOpen });
    at = isOpen ? at + 1 : node.subtreeEnd;
  }
  return rows;
}

/** Spans to be closed so that nothing below a depth is seen. @param depth levels that are seen, from 1 */
export function closedBelow(nodes: readonly TreeNode[], depth: number): ReadonlySet<number> {
  return new Set(
    nodes.filter((node) => node.depth === depth - 1 && node.children.length > 0).map(({ index }) => index),
  );
}

/** What has to be opened for a span to be seen. */
export function revealed(
  nodes: readonly TreeNode[],
  index: number,
  shown: Shown,
): Pick<Shown, 'closed' | 'openRepeats'> {
  const closed = new Set(shown.closed);
  const openRepeats = new Set(shown.openRepeats);
  const firstOf = new Map(
    [...shown.repeats.values()].flatMap(({ first, members }) => members.map((at) => [at, first] as const)),
  );
  for (let at = index; at >= 0; at = nodes[at]?.parent ?? -1) {
    if (at !== index) closed.delete(at);
    const first = firstOf.get(at);
    if (first !== undefined) openRepeats.add(first);
  }
  return { closed, openRepeats };
}

/** Spans of which a text that is shown holds the words, in upper or lower case. @returns their positions */
export function findSpans(nodes: readonly TreeNode[], query: string): readonly number[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return [];
  return nodes
    .filter(({ span }) =>
      [span.name, span.type, span.model ?? '', span.error ?? '', span.preview, span.id].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    )
    .map(({ index }) => index);
}
