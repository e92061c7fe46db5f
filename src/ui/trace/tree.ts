import { hasFailed, type RunSpan } from './span.js';

/** Why a span with a parent id is a root. */
type RootReason = 'orphan' | 'cycle';

/**
 * A span in the tree of its run. Nodes are in one array, parents before children, so that a subtree is a
 * slice.
 */
export interface TreeNode {
  readonly span: RunSpan;
  /** Index in the array. */
  readonly index: number;
  /** Index of the parent; -1 at the top. */
  readonly parent: number;
  readonly depth: number;
  /** Position among siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
  /** Indexes of the children, by start. */
  readonly children: readonly number[];
  /** Index after the subtree. */
  readonly subtreeEnd: number;
  readonly rootReason: RootReason | undefined;
  /**
   * Sums of the subtree as the daemon computes them (`runs/README.md`): the larger of what a span reports and
   * what is below it; of a model call, what is below its tools and agents is added.
   */
  readonly cost: number | null;
  readonly tokens: number | null;
  /** Failed spans below this one. */
  readonly failedBelow: number;
}

type Building = { -readonly [Key in keyof TreeNode]: TreeNode[Key] } & { children: number[] };

/**
 * Builds the tree of a run, siblings by start. A span without a known parent is a root, as is the first span
 * of a cycle of parents, so that every span has a place.
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
  // The rest hangs below a cycle.
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

/** The earliest span of the cycle above a span. */
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

/** Adds a span and its subtree. Iterative, because traces can be thousands of levels deep. */
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
  const places = new Map(nodes.map(({ span, index }) => [span.id, index]));
  /** Sums below tools and agents, which are no parts of a model call above them. */
  const beyond = nodes.map((): Pick<TreeNode, 'cost' | 'tokens'> => ({ cost: null, tokens: null }));
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const [node, far] = [nodes[at], beyond[at]];
    if (!node || !far) continue;
    const { span } = node;
    // Children come later in the array, so their sums are complete.
    const same = places.get(span.sameAs ?? '') ?? -1;
    const isCounted = span.counted || (same > at && same < node.subtreeEnd);
    const cost = withOwn(isCounted ? span.cost : null, node.cost, far.cost, span.type);
    const tokens = withOwn(isCounted ? span.tokens : null, node.tokens, far.tokens, span.type);
    node.cost = sum(cost, far.cost);
    node.tokens = sum(tokens, far.tokens);
    const above = nodes[node.parent];
    const farAbove = beyond[node.parent];
    if (!above || !farAbove) continue;
    const isApart = span.type === 'tool' || span.type === 'agent';
    if (!isApart) {
      above.cost = sum(above.cost, cost);
      above.tokens = sum(above.tokens, tokens);
    }
    beyond[node.parent] = {
      cost: sum(farAbove.cost, isApart ? node.cost : far.cost),
      tokens: sum(farAbove.tokens, isApart ? node.tokens : far.tokens),
    };
    above.failedBelow += node.failedBelow + (hasFailed(node.span) ? 1 : 0);
    above.subtreeEnd = Math.max(above.subtreeEnd, node.subtreeEnd);
  }
}

/** The counted usage of a span and its parts, without spans below its tools and agents. */
function withOwn(
  own: number | null,
  parts: number | null,
  beyond: number | null,
  type: RunSpan['type'],
): number | null {
  if (own === null) return parts;
  const rest = type === 'llm' ? own : own - (beyond ?? 0);
  return Math.max(rest, parts ?? 0);
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

/** Start and end of the run so far. @param now end of running spans, in milliseconds */
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
