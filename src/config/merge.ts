import type { Position, Problem } from './config-error.js';
import { nodeAt, type ConfigNode, type ListNode, type MapNode } from './config-node.js';
import { suggestion } from './nearest-name.js';

/**
 * Merges a later file over an earlier one: maps merge, lists and scalars replace, and a map over a list changes the list. A later
 * `key:` without a value over a map or list is an error, because it would silently delete the earlier content.
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
    } else if (before?.node.kind === 'list' && entry.node.kind === 'map') {
      const node = changedList(before.node, entry.node, (position, message) => {
        problems.push({ severity: 'error', position, path: here, message });
      });
      entries.set(key, { keyPosition: entry.keyPosition, node });
    } else {
      entries.set(key, entry);
    }
  }
  return { root: { ...earlier, entries }, problems };
}

const CHANGES = ['insert', 'remove'];
const PLACES = ['before', 'after'];
const ITEMS = 'ids';

/**
 * An earlier list without the items of `remove`, and with those of `insert`: one map or several, each with `ids` and `before` or `after`
 * an item of the list. Without such a place, they are added at the end.
 */
function changedList(
  earlier: ListNode,
  changes: MapNode,
  report: (position: Position, message: string) => void,
): ListNode {
  const items = [...earlier.items];
  const find = (id: ConfigNode): number | undefined => {
    const place = items.findIndex(
      (item) => item.kind === 'scalar' && id.kind === 'scalar' && item.value === id.value,
    );
    if (place >= 0) return place;
    const { file, line } = earlier.position;
    const known = items.map(textOf);
    report(
      id.position,
      `"${textOf(id)}" is not in the list of ${file}:${line}${suggestion(textOf(id), known)}`,
    );
    return undefined;
  };
  const checkKeys = ({ entries }: MapNode, known: readonly string[]): void => {
    for (const [key, { keyPosition }] of entries)
      if (!known.includes(key))
        report(
          keyPosition,
          `unknown key "${key}"${suggestion(key, known)}; to replace the list, write a list`,
        );
  };
  checkKeys(changes, CHANGES);
  if (isEmpty(changes))
    report(changes.position, 'is a list and needs insert or remove; write [] to empty it');
  for (const id of itemsOf(nodeAt(changes, ['remove']))) {
    const place = find(id);
    if (place !== undefined) items.splice(place, 1);
  }
  for (const insertion of itemsOf(nodeAt(changes, ['insert']))) {
    if (insertion.kind !== 'map') {
      report(insertion.position, `must be a map with ${ITEMS}, and before or after an item of the list`);
      continue;
    }
    checkKeys(insertion, [...PLACES, ITEMS]);
    const [before, after] = PLACES.map((key) => nodeAt(insertion, [key]));
    if (before !== undefined && after !== undefined)
      report(insertion.position, 'has both before and after; remove one of them');
    const place = before ?? after;
    if (place !== undefined && isNull(place)) {
      report(
        place.position,
        `needs an item of the list, or leave out ${before === undefined ? 'after' : 'before'} to insert at the end`,
      );
      continue;
    }
    const found = place === undefined ? items.length : find(place);
    if (found === undefined) continue;
    const ids = itemsOf(nodeAt(insertion, [ITEMS]));
    if (ids.length === 0) report(insertion.position, `needs ${ITEMS}: what to insert`);
    items.splice(before === undefined && after !== undefined ? found + 1 : found, 0, ...ids);
  }
  return { ...earlier, items };
}

/** The items of a list, or a single item in place of a list. */
function itemsOf(node: ConfigNode | undefined): readonly ConfigNode[] {
  if (node === undefined || isNull(node)) return [];
  return node.kind === 'list' ? node.items : [node];
}

function textOf(node: ConfigNode): string {
  return node.kind === 'scalar' ? node.source : `a ${node.kind}`;
}

function isEmpty(node: ConfigNode): boolean {
  return (
    (node.kind === 'map' && node.entries.size === 0) || (node.kind === 'list' && node.items.length === 0)
  );
}

function isNull(node: ConfigNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}
