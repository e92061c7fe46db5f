import type { Position } from './config-error.js';

/** The configuration as it was written, with the place of everything. */
export type ConfigNode = MapNode | ListNode | ScalarNode;

export interface MapNode {
  readonly kind: 'map';
  readonly position: Position;
  readonly entries: ReadonlyMap<string, { readonly keyPosition: Position; readonly node: ConfigNode }>;
}

export interface ListNode {
  readonly kind: 'list';
  readonly position: Position;
  readonly items: readonly ConfigNode[];
}

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly position: Position;
  readonly value: string | number | boolean | null;
  /** As it is written in the file, without quotes: what errors show, and what a number would be as text. */
  readonly source: string;
  /** Set if `value` came from outside the file; such a value is never shown. */
  readonly isSubstituted?: boolean;
  /** The source of the value: `env:NAME`, `file:PATH`, without its default. */
  readonly references?: readonly string[];
  /** The inserted text if the whole scalar is one substitution: used if the schema expects a string. */
  readonly text?: string;
}

/** The node at a path, or undefined. */
export function nodeAt(root: ConfigNode, path: readonly string[]): ConfigNode | undefined {
  let node: ConfigNode | undefined = root;
  for (const key of path) node = node === undefined ? undefined : childOf(node, key);
  return node;
}

/** The place of a key, or of the nearest thing around it that is written. */
export function locate(root: ConfigNode, path: readonly string[]): Position {
  let node = root;
  let position = root.position;
  for (const key of path) {
    const child = childOf(node, key);
    if (child === undefined) return position;
    position = node.kind === 'map' ? (node.entries.get(key)?.keyPosition ?? child.position) : child.position;
    node = child;
  }
  return position;
}

function childOf(node: ConfigNode, key: string): ConfigNode | undefined {
  if (node.kind === 'map') return node.entries.get(key)?.node;
  return node.kind === 'list' ? node.items[Number(key)] : undefined;
}
