import type { ReadAttributes } from '../wire/read-span.js';
import { prefixUse, USES, type PrefixUse, type Use } from './conventions/sources.js';
import { isOwnKey } from './own-attributes.js';
import { VERDICT_ATTRIBUTES } from './root-span.js';

/** Read in addition to the attributes that are sources of fields. */
const PICKED: ReadonlySet<string> = new Set(VERDICT_ATTRIBUTES);
/** Wider spans are rare. */
const MAX_WIDTH = 100;
/** Of as many attributes. */
const MAX_SHAPES = 16;

/** The uses of an attribute, by its key alone. */
export type Role =
  | { readonly is: 'source'; readonly uses: readonly Use[] }
  | { readonly is: 'part'; readonly use: PrefixUse; readonly path: string }
  | { readonly is: 'own' }
  | undefined;

/** A requested attribute: its position among those of the span. */
interface Asked {
  readonly at: number;
  readonly key: string;
  readonly role: Role;
  readonly isPicked: boolean;
}

/** Facts that depend only on a span's attribute keys. */
export class Shape {
  /** The keys as they came, one after the other, and where each ends. */
  readonly sent: Uint8Array;
  readonly ends: Int32Array;
  /** The requested attributes. */
  readonly asked: readonly Asked[];
  /** Whether any key begins with `db.`. */
  readonly hasDb: boolean;

  /** @param sent the keys in UTF-8 */
  constructor(sent: readonly Uint8Array[]) {
    this.sent = Buffer.concat(sent);
    let end = 0;
    this.ends = Int32Array.from(sent, ({ length }) => (end += length));
    const keys = sent.map((key) => Buffer.from(key).toString('utf8'));
    this.asked = askedOf(keys);
    this.hasDb = keys.some((key) => key.startsWith('db.') && !isOwnKey(key));
  }
}

/**
 * Cache of span shapes, limited to some thousand. Spans of one instrumentation mostly have the same keys in the same order: the
 * meaning of keys is looked up once per shape, by their bytes, and only the length of all other attributes is read.
 */
export class AttributeShapes {
  /** By the number of attributes; frequently used shapes move to the front of their list. */
  readonly #byWidth = new Map<number, Shape[]>();

  of(attributes: ReadAttributes): Shape {
    const width = attributes.length;
    const known = this.#byWidth.get(width) ?? [];
    for (let i = 0; i < known.length; i++) {
      const shape = known[i];
      if (shape === undefined || !attributes.haveKeys(shape.sent, shape.ends)) continue;
      const before = known[i - 1];
      if (before !== undefined) [known[i - 1], known[i]] = [shape, before];
      return shape;
    }
    const shape = new Shape(attributes.keyBytes());
    if (width > MAX_WIDTH || attributes.areOdd) return shape;
    if (known.length === 0) this.#byWidth.set(width, known);
    if (known.length === MAX_SHAPES) known.pop();
    known.push(shape);
    return shape;
  }
}

/** Of a key that comes twice the last value counts, as in `metadata`. */
function askedOf(keys: readonly string[]): Asked[] {
  const last = new Map(keys.map((key, i) => [key, i]));
  return keys.flatMap((key, at) => {
    const role = roleOf(key);
    const counts = role?.is === 'own' || last.get(key) === at;
    const isPicked = PICKED.has(key);
    return counts && (role !== undefined || isPicked) ? { at, key, role, isPicked } : [];
  });
}

/** Whether any convention reads attributes of this key. */
export function isReadKey(key: string): boolean {
  return roleOf(key) !== undefined;
}

function roleOf(key: string): Role {
  if (isOwnKey(key)) return { is: 'own' };
  const uses = USES.get(key);
  if (uses !== undefined) return { is: 'source', uses };
  const use = prefixUse(key);
  return use && { is: 'part', use, path: key.slice(use.prefix.length) };
}
