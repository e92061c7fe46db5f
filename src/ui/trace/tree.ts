import { hasFailed, type RunSpan } from './span.js';

/** Why a span that names a parent stands at the top. */
type RootReason = 'orphan' | 'cycle';

/** A span in the tree of its run. Nodes lie in one array, parents before children, so that a subtree is a stretch of it. */
export interface TreeNode {
  readonly span: RunSpan;
  /** Position in the array. */
  readonly index: number;
  /** Position of the parent; -1 at the top. */
  readonly parent: number;
  readonly depth: number;
  /** Of siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
  /** Positions of the children, by start. */
  readonly children: readonly number[];
  /** First position behind the subtree. */
  readonly subtreeEnd: number;
  readonly rootReason: RootReason | undefined;
  /** Sums of the subtree, by the rule of the daemon: what a span reports counts only where nothing below it reports the same. */
  readonly cost: number | null;
  readonly tokens: number | null;
  /** Failed spans below it, without itself. */
  readonly failedBelow: number;
}

type Building = { -readonly [Key in keyof TreeNode]: TreeNode[Key] } & { children: number[] };

/**
 * Orders the spans of a run as a tree, siblings by start. A span whose parent is not among them is a root, and so is the first
 * one of a circle of parents, so that every span has its place.
 */
export function buildTree(spans: readonly RunSpan[]): readonly TreeNode[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || (b.end ?? Infinity) - (a.end ?? Infinity));
  const known = new Set(sorted.map(({ id }) => id));
  const children = new Map<string, RunSpan[]>();
  const roots: { span: RunSpan; reason: RootReason | undefined }[] = [];
  for (const span of sorted) {
    const { parentId } = span;
    if (parentId === null) roots.push({ span, reason: undefined });
    else if (!known.has(parentId)) roots.push({ span, reason: 'orphan' });
    else (children.get(parentId) ?? setIn(children, parentId)).push(span);
  }
  const nodes: Building[] = [];
  const placed = new Set<RunSpan>();
  for (const { span, reason } of roots) place(span, reason, nodes, children, placed);
  // Whatever is left hangs below a circle.
  for (const span of sorted)
    if (!placed.has(span)) place(circleStart(span, sorted), 'cycle', nodes, children, placed);
  const top = nodes.filter(({ parent }) => parent < 0);
  top.forEach((node, at) => {
    node.position = at + 1;
    node.siblings = top.length;
  });
  rollUp(nodes);
  return nodes;
}

function setIn(children: Map<string, RunSpan[]>, id: string): RunSpan[] {
  const list: RunSpan[] = [];
  children.set(id, list);
  return list;
}

/** The span of the circle above a span from which the walk up comes back: the earliest of its circle. */
function circleStart(span: RunSpan, sorted: readonly RunSpan[]): RunSpan {
  const byId = new Map(sorted.map((each) => [each.id, each]));
  const parentOf = (each: RunSpan): RunSpan => byId.get(each.parentId ?? '') ?? each;
  const walked = new Set<RunSpan>();
  let at = span;
  while (!walked.has(at)) {
    walked.add(at);
    at = parentOf(at);
  }
  let earliest = at;
  for (let next = parentOf(at); next !== at; next = parentOf(next))
    if (next.start < earliest.start) earliest = next;
  return earliest;
}

/** Puts a span and everything below it into the array. Without recursion: traces are thousands deep. */
function place(
  root: RunSpan,
  rootReason: RootReason | undefined,
  nodes: Building[],
  children: ReadonlyMap<string, readonly RunSpan[]>,
  placed: Set<RunSpan>,
): void {
  const waiting: { span: RunSpan; parent: number; position: number; siblings: number }[] = [
    { span: root, parent: -1, position: 1, siblings: 1 },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { span, parent, position, siblings } = next;
    const index = nodes.length;
    const above = nodes[parent];
    placed.add(span);
    above?.children.push(index);
    nodes.push({
      span,
      index,
      parent,
      depth: above === undefined ? 0 : above.depth + 1,
      position,
      siblings,
      children: [],
      subtreeEnd: index + 1,
      rootReason: parent < 0 ? rootReason : undefined,
      cost: null,
      tokens: null,
      failedBelow: 0,
    });
    const below = (children.get(span.id) ?? []).filter((child) => !placed.has(child));
    for (let at = below.length - 1; at >= 0; at -= 1) {
      const child = below[at];
      if (child) waiting.push({ span: child, parent: index, position: at + 1, siblings: below.length });
    }
  }
}

function rollUp(nodes: readonly Building[]): void {
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at];
    if (!node) continue;
    // Children have added theirs already: they lie behind.
    node.cost ??= node.span.counted ? node.span.cost : null;
    node.tokens ??= node.span.counted ? node.span.tokens : null;
    const above = nodes[node.parent];
    if (!above) continue;
    above.cost = sum(above.cost, node.cost);
    above.tokens = sum(above.tokens, node.tokens);
    above.failedBelow += node.failedBelow + (hasFailed(node.span) ? 1 : 0);
    above.subtreeEnd = Math.max(above.subtreeEnd, node.subtreeEnd);
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

/** When the run began and when it ended, or how far it is. @param now ends spans that still run, in milliseconds */
export function extentOf(
  nodes: readonly TreeNode[],
  now: number,
): { readonly start: number; readonly end: number } {
  let start = Infinity;
  let end = -Infinity;
  for (const { span } of nodes) {
    start = Math.min(start, span.start);
    end = Math.max(end, span.start, span.end ?? now);
  }
  return nodes.length === 0 ? { start: now, end: now } : { start, end };
}
