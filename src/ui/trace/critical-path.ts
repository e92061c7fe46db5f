import type { TreeNode } from './tree.js';

/** A stretch of time that a span alone answers for, in milliseconds. */
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
 * What the duration of the run depends on: from its end backwards, always the child that ended last before. Parts do not overlap.
 * A part of a span is the time in which nothing below it had to be waited for.
 *
 * @param now ends spans that still run
 * @returns the parts of the root that ended last, by time
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
  // A walk with its own stack: `until` is the time that is still to be explained.
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
    // It began after what is explained already, or ended before this span began. One that went on for longer than its parent was
    // waited for until there; one that went on while its successor was under way was not waited for.
    if (childEnd <= childStart || (endOf(child) > top.until && top.until < top.end)) continue;
    if (top.until > childEnd) parts.push({ index: top.node.index, start: childEnd, end: top.until });
    top.until = childStart;
    enter(child, childEnd, childStart);
  }
  return parts.sort((a, b) => a.start - b.start || a.end - b.end);
}
