import type { ReadAttributes } from '../wire/read-span.js';
import { generalRoles, type GeneralRole } from './conventions/general.js';
import { prefixUse, USES } from './conventions/sources.js';
import { isOwnKey } from './own-attributes.js';
import { SCORE_ATTRIBUTES } from '../../signal/score.js';
import { VERDICT_ATTRIBUTES } from './root-span.js';

/** Read in addition to the attributes that are sources of fields. */
const PICKED: ReadonlySet<string> = new Set([...VERDICT_ATTRIBUTES, ...SCORE_ATTRIBUTES]);
/** Spans with more attributes are rare; their shapes are not cached. */
const MAX_WIDTH = 100;
/** Maximum cached shapes with the same number of attributes. */
const MAX_SHAPES = 16;

/** The uses of an attribute: by its key, or by all keys of its span if no convention lists the key. */
export type Role = GeneralRole | { readonly is: 'own' } | undefined;

/** An attribute that is read, with its position among those of the span. */
interface Asked {
  readonly at: number;
  readonly key: string;
  readonly role: Role;
  readonly isPicked: boolean;
}

/** Facts about a span that follow from the keys of its attributes, regardless of their values. */
export class Shape {
  /** The received keys, concatenated, and where each ends. */
  readonly sent: Uint8Array;
  readonly ends: Int32Array;
  /** The attributes to read. */
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

/** Of a repeated key the last value counts, as in `metadata`. */
function askedOf(keys: readonly string[]): Asked[] {
  const last = new Map(keys.map((key, i) => [key, i]));
  const general = generalRoles(keys);
  return keys.flatMap((key, at) => {
    const role = roleOf(key) ?? general.get(key);
    const counts = role?.is === 'own' || last.get(key) === at;
    const isPicked = PICKED.has(key);
    return counts && (role !== undefined || isPicked) ? { at, key, role, isPicked } : [];
  });
}

/** The keys of a span that no convention or general rule reads, and no score. */
export function unreadKeys(keys: readonly string[]): string[] {
  const general = generalRoles(keys);
  const isRead = (key: string): boolean =>
    roleOf(key) !== undefined || general.has(key) || SCORE_ATTRIBUTES.includes(key);
  return keys.filter((key) => !isRead(key));
}

function roleOf(key: string): Role {
  if (isOwnKey(key)) return { is: 'own' };
  const uses = USES.get(key);
  if (uses !== undefined) return { is: 'source', uses };
  const use = prefixUse(key);
  return use && { is: 'part', use, path: key.slice(use.prefix.length) };
}
