import type { Repeat } from './repeats.js';
import type { TreeNode } from './tree.js';

/** A row of the grid: a span, or a group of repeats. */
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
  /** Indexes of collapsed spans. */
  readonly closed: ReadonlySet<number>;
  /** Groups of repeats; none shows all spans. */
  readonly repeats: ReadonlyMap<number, Repeat>;
  /** Expanded groups, by first span. */
  readonly openRepeats: ReadonlySet<number>;
}

/** @returns the visible rows in tree order */
export function visibleRows(
  nodes: readonly TreeNode[],
  { closed, repeats, openRepeats }: Shown,
): readonly Row[] {
  const rows: Row[] = [];
  /** How far expanded groups indent the rows up to an index. */
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

/** The spans to collapse so that only some levels are visible. @param depth visible levels, from 1 */
export function closedBelow(nodes: readonly TreeNode[], depth: number): ReadonlySet<number> {
  return new Set(
    nodes.filter((node) => node.depth === depth - 1 && node.children.length > 0).map(({ index }) => index),
  );
}

/** The rows to expand so that a span is visible. */
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

/** Lower-case texts of payloads by span id. */
export type PayloadTexts = ReadonlyMap<string, string>;

/**
 * Spans with displayed text or payload that contains the query, ignoring case.
 *
 * @returns their indexes
 */
export function findSpans(
  nodes: readonly TreeNode[],
  query: string,
  payloads: PayloadTexts | undefined,
): readonly number[] {
  const needle = query.trim().toLowerCase();
  if (needle === '') return [];
  return nodes
    .filter(
      ({ span }) =>
        [span.name, span.type, span.model ?? '', span.error ?? '', span.preview, span.id].some((text) =>
          text.toLowerCase().includes(needle),
        ) || payloads?.get(span.id)?.includes(needle) === true,
    )
    .map(({ index }) => index);
}
