import type { TreeNode } from './tree.js';

/** A period for which one span determines the duration, in milliseconds. */
export interface CriticalPart {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

interface Walk {
  readonly node: TreeNode;
  readonly start: number;
  readonly end: number;
  until: number;
  readonly children: readonly number[];
  next: number;
}

/**
 * The critical path: from the end backwards, always the child that ended last. Parts do not overlap; a part
 * of a span is the time in which it waited for no child.
 *
 * @param now end of running spans
 * @returns the parts below the root that ended last, by time
 */
export function criticalPath(nodes: readonly TreeNode[], now: number): readonly CriticalPart[] {
  const endOf = (node: TreeNode): number => Math.max(node.span.start, node.span.end ?? now);
  const roots = nodes.filter(({ parent }) => parent < 0);
  const last = roots.reduce<TreeNode | undefined>(
    (found, root) => (found === undefined || endOf(root) > endOf(found) ? root : found),
    undefined,
  );
  if (last === undefined) return [];
  const parts: CriticalPart[] = [];
  const byEnd = (a: number, b: number): number => {
    const [one, other] = [nodes[a], nodes[b]];
    return one && other ? endOf(other) - endOf(one) : 0;
  };
  // An explicit stack; `until` is the time still to be explained.
  const stack: Walk[] = [];
  const enter = (node: TreeNode, until: number, from: number): void => {
    const start = Math.max(node.span.start, from);
    if (until > start || node === last)
      stack.push({ node, until, end: until, start, children: [...node.children].sort(byEnd), next: 0 });
  };
  enter(last, endOf(last), last.span.start);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const child = nodes[top.children[top.next] ?? -1];
    top.next += 1;
    if (child === undefined) {
      if (top.until > top.start) parts.push({ index: top.node.index, start: top.start, end: top.until });
      stack.pop();
      continue;
    }
    const [childStart, childEnd] = [Math.max(child.span.start, top.start), Math.min(endOf(child), top.until)];
    // Skips children that start after the explained time or end before the span starts. A child that outlives
    // its parent counts up to the end of the parent; one that overlaps its successor was not waited for.
    if (childEnd <= childStart || (endOf(child) > top.until && top.until < top.end)) continue;
    if (top.until > childEnd) parts.push({ index: top.node.index, start: childEnd, end: top.until });
    top.until = childStart;
    enter(child, childEnd, childStart);
  }
  return parts.sort((a, b) => a.start - b.start || a.end - b.end);
}
