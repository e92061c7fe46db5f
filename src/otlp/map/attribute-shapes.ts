import type { JsonObject } from '../../signal/attributes.js';
import { prefixUse, USES, type PrefixUse, type Use } from './conventions/sources.js';
import { isOwnKey } from './own-attributes.js';
import { RESERVED } from './span-metadata-names.js';
import type { KeyValue } from '../wire/requests.js';

const RESERVED_NAMES: ReadonlySet<string> = new Set(RESERVED);
/** Wider spans are rare, and V8 gives no class to objects with more properties. */
const MAX_WIDTH = 100;
/** Of as many attributes. */
const MAX_SHAPES = 16;
/** Of one shape. */
const MAX_BLANKS = 32;

/** What an attribute is good for, by its key alone. */
export type Role =
  | { readonly is: 'source'; readonly uses: readonly Use[] }
  | { readonly is: 'part'; readonly use: PrefixUse; readonly path: string }
  | { readonly is: 'own' }
  | undefined;

/** All that the keys of a span's attributes say, whatever the values are. */
export class Shape {
  /** The keys as they came. */
  readonly sent: readonly string[];
  /** The keys under which `metadata` holds them. */
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
  /** Whether any key begins with `db.`. */
  readonly hasDb: boolean;
  /** Those keys that `metadata` may need for itself. */
  readonly reserved: readonly string[];
  /** What `metadata` holds of the attributes. */
  readonly #kept: readonly string[];
  readonly #blanks = new Map<number, JsonObject>();

  constructor(sent: readonly string[]) {
    this.sent = sent;
    this.keys = sent.map((key) => key.toWellFormed());
    this.roles = rolesOf(this.keys);
    this.#kept = this.keys.filter((_, i) => this.roles[i]?.is !== 'own');
    this.hasDb = this.#kept.some((key) => key.startsWith('db.'));
    this.reserved = this.#kept.filter((key) => RESERVED_NAMES.has(key));
  }

  /**
   * A new object with all attributes' keys and those of {@link RESERVED} that `names` has the bits of, all null. Later
   * keys would cost a copy of the object's class each (about 900 bytes, measured).
   */
  blank(names: number): JsonObject {
    let blank = this.#blanks.get(names);
    if (blank === undefined) {
      blank = blankOf([...this.#kept, ...RESERVED.filter((_, bit) => (names & (1 << bit)) !== 0)]);
      if (this.#blanks.size === MAX_BLANKS) this.#blanks.clear();
      this.#blanks.set(names, blank);
    }
    return { ...blank };
  }
}

/**
 * The shapes of spans, some thousand at most. Spans of one instrumentation mostly have the same keys in the same order: what a key
 * means is looked up once for all of them, and their `metadata`, copied from one object, are of one class. That halves the
 * time of the mapping; everything behind it that walks over `metadata` gains as well.
 */
export class AttributeShapes {
  /** By the number of attributes; what is often asked for goes to the front of its list. */
  readonly #byWidth = new Map<number, Shape[]>();

  of(attributes: readonly KeyValue[]): Shape {
    const width = attributes.length;
    const known = this.#byWidth.get(width) ?? [];
    for (const [i, shape] of known.entries()) {
      if (!fits(shape.sent, attributes)) continue;
      const before = known[i - 1];
      if (before !== undefined) [known[i - 1], known[i]] = [shape, before];
      return shape;
    }
    const shape = new Shape(attributes.map(({ key }) => key ?? ''));
    if (width > MAX_WIDTH) return shape;
    if (known.length === 0) this.#byWidth.set(width, known);
    if (known.length === MAX_SHAPES) known.pop();
    known.push(shape);
    return shape;
  }
}

function fits(keys: readonly string[], attributes: readonly KeyValue[]): boolean {
  for (let i = 0; i < keys.length; i++) if (keys[i] !== (attributes[i]?.key ?? '')) return false;
  return true;
}

/** Of a key that comes twice the last value counts, as in `metadata`. */
function rolesOf(keys: readonly string[]): Role[] {
  const last = new Map(keys.map((key, i) => [key, i]));
  return keys.map((key, i) => {
    const role = roleOf(key);
    return role?.is === 'own' || last.get(key) === i ? role : undefined;
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

/** V8 gives a class to an object of many keys at once only where JSON.parse makes it. */
function blankOf(keys: readonly string[]): JsonObject {
  return JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:null`).join(',')}}`) as JsonObject;
}
