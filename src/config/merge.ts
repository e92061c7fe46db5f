import type { Problem } from './config-error.js';
import type { ConfigNode, MapNode } from './config-node.js';

/**
 * Merges a later file over an earlier one: maps merge, lists and scalars replace. A later `key:` without a value over a map or list
 * is an error, because it would silently delete the earlier content.
 */
export function mergeNodes(
  earlier: MapNode,
  later: MapNode,
  path: readonly string[] = [],
): { readonly root: MapNode; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const entries = new Map(earlier.entries);
  for (const [key, entry] of later.entries) {
    const before = earlier.entries.get(key);
    const here = [...path, key];
    if (before && isNull(entry.node) && isEmpty(before.node)) {
      continue;
    }
    if (before && isNull(entry.node) && before.node.kind !== 'scalar') {
      const { file, line } = before.keyPosition;
      problems.push({
        severity: 'error',
        position: entry.keyPosition,
        path: here,
        message: `has no value here, but ${file}:${line} gives it one; remove this line to keep that value, or write a new one`,
      });
    } else if (before?.node.kind === 'map' && entry.node.kind === 'map') {
      const merged = mergeNodes(before.node, entry.node, here);
      problems.push(...merged.problems);
      entries.set(key, { keyPosition: entry.keyPosition, node: merged.root });
    } else {
      entries.set(key, entry);
    }
  }
  return { root: { ...earlier, entries }, problems };
}

function isEmpty(node: ConfigNode): boolean {
  return (
    (node.kind === 'map' && node.entries.size === 0) || (node.kind === 'list' && node.items.length === 0)
  );
}

function isNull(node: ConfigNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}
