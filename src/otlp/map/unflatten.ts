import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { setOwn } from './any-value.js';

/** The rest of a longer key stays one name. */
const MAX_PARTS = 12;
/** Names that OpenInference puts after the number of each list element: `0.message.role`. They carry no information. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'message',
  'message_content',
  'tool_call',
  'tool',
  'document',
  'embedding',
  'image',
]);
const NUMBER = /^\d+$/;

type Tree = Map<string, Tree | Leaf>;
interface Leaf {
  readonly value: JsonValue;
}

/**
 * Lists and objects from flat attributes: `[['0.role', 'user'], ['0.content', 'Hi']]` is a list of one object. Numbers order a
 * list; missing numbers leave no holes.
 */
export function unflatten(parts: readonly (readonly [path: string, value: JsonValue])[]): JsonValue {
  const root: Tree = new Map();
  for (const [path, value] of parts) insert(root, path, value);
  return toValue(root);
}

function insert(root: Tree, path: string, value: JsonValue): void {
  const names = split(path);
  const last = names.pop() ?? '';
  let tree = root;
  for (const name of names) {
    const child = tree.get(name);
    if (child instanceof Map) {
      tree = child;
      continue;
    }
    const made: Tree = new Map();
    // The path already has a value: it is kept under an empty name.
    if (child !== undefined) made.set('', child);
    tree.set(name, made);
    tree = made;
  }
  const known = tree.get(last);
  if (known instanceof Map) known.set('', { value });
  else tree.set(last, { value });
}

/** The names on the path to a value, without wrappers. */
function split(path: string): string[] {
  const all = path.split('.', MAX_PARTS);
  const length = all.reduce((sum, name) => sum + name.length + 1, -1);
  if (length < path.length) all.push((all.pop() ?? '') + path.slice(length));
  return all.filter(
    (name, i) => !(WRAPPERS.has(name) && i < all.length - 1 && NUMBER.test(all[i - 1] ?? '')),
  );
}

function toValue(node: Tree | Leaf): JsonValue {
  if (!(node instanceof Map)) return node.value;
  const entries = [...node];
  if (entries.every(([name]) => NUMBER.test(name)))
    return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, child]) => toValue(child));
  const object: JsonObject = {};
  for (const [name, child] of entries) setOwn(object, name, toValue(child));
  return object;
}
