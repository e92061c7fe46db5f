import { byteAt } from '../signal/checked.js';

const MAX_DEPTH = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** For shorter strings, scanning is faster than calling the native search. */
const SHORT_STRING = 64;

const OPEN = 1;
const CLOSE = 2;
const COLON = 3;
const STRING = 4;
const COMMA = 5;
/** Structural meaning of a byte outside strings; 0: none. */
const MEANINGS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const meanings: Readonly<Record<string, number>> = {
    '[': OPEN,
    '{': OPEN,
    ']': CLOSE,
    '}': CLOSE,
    ':': COLON,
    '"': STRING,
    ',': COMMA,
  };
  return meanings[String.fromCharCode(byte)] ?? 0;
});

/** Maximum structure of a body. */
export interface StructureLimits {
  /** Objects, lists and fields. */
  readonly nodes: number;
  /** Values after a comma, including elements of lists. Absent: no own limit. */
  readonly values?: number;
}

/**
 * Finds bodies whose structure costs far more than their bytes, before they are parsed: 16 MiB of `[` or `{},` would block the
 * event loop for two to three seconds, although JSON of that size usually takes 50 milliseconds. After this check no body nests
 * deeper than 1000 levels, so code that walks the values may be recursive. Most bodies cannot exceed the limits, which a count of
 * their opening brackets shows in a tenth of the time of a parse.
 *
 * @param bytes UTF-8; invalid JSON is allowed and left to the parser
 * @param text the same in ASCII, if available
 * @returns the exceeded limit, for the sender; undefined if none is exceeded
 */
export function findExcess(bytes: Uint8Array, limits: StructureLimits, text?: string): string | undefined {
  return isHarmless(bytes, limits, text) ? undefined : new StructureScan(limits).push(bytes);
}

/** Whether so few bytes and opening brackets cannot exceed any limit. Brackets within strings are counted, too. */
function isHarmless(bytes: Uint8Array, { nodes, values = nodes }: StructureLimits, ascii?: string): boolean {
  // Every node takes at least two bytes: an opening and a closing one, or the text of a field. Unclosed nodes have one byte and
  // are limited by the depth.
  if (bytes.length / 2 > Math.min(nodes, values)) return false;
  if (bytes.length <= MAX_DEPTH) return true;
  // Searching a text costs a fraction of searching a buffer.
  const text = ascii ?? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  let opened = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++opened > MAX_DEPTH) return false;
    }
  }
  return true;
}

/** Like {@link findExcess}, for a text that arrives in pieces. */
export class StructureScan {
  readonly #maxNodes: number;
  readonly #maxValues: number;
  #measured = 0;
  #excess: string | undefined;
  #depth = 0;
  #nodes = 0;
  #values = 0;
  #isInString = false;
  /** Whether the next byte of a string is escaped. */
  #isEscaped = false;

  constructor({ nodes, values = Infinity }: StructureLimits) {
    this.#maxNodes = nodes;
    this.#maxValues = values;
  }

  /** Number of bytes scanned so far. */
  get measured(): number {
    return this.#measured;
  }

  /** @returns the limit exceeded so far, if any */
  push(bytes: Uint8Array): string | undefined {
    this.#excess ??= this.#scan(bytes);
    if (this.#excess === undefined) this.#measured += bytes.length;
    return this.#excess;
  }

  #scan(bytes: Uint8Array): string | undefined {
    const maxNodes = this.#maxNodes;
    const maxValues = this.#maxValues;
    let depth = this.#depth;
    let nodes = this.#nodes;
    let values = this.#values;
    let at = this.#isInString && bytes.length > 0 ? this.#skipString(bytes, this.#isEscaped ? 1 : 0) + 1 : 0;
    for (; at < bytes.length; at++) {
      const meaning = MEANINGS[byteAt(bytes, at)];
      if (meaning === 0) continue;
      if (meaning === STRING) at = this.#skipString(bytes, at + 1);
      else if (meaning === CLOSE) depth--;
      else if (meaning === COMMA) {
        if (++values > maxValues) return `holds more than ${maxValues} values`;
      } else if (++nodes > maxNodes) return `holds more than ${maxNodes} objects, lists and fields`;
      else if (meaning === OPEN && ++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
    }
    this.#depth = depth;
    this.#nodes = nodes;
    this.#values = values;
    return undefined;
  }

  /** @param from position of an unescaped character @returns the position of the closing quote, or the end of the bytes */
  #skipString(bytes: Uint8Array, from: number): number {
    const end = endOfString(bytes, from - 1);
    this.#isInString = end >= bytes.length;
    this.#isEscaped = this.#isInString && isEscaped(bytes, bytes.length, from);
    return end;
  }
}

/** @returns the position of the quote that ends the string begun at `start`, or the end of the bytes */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (const near = at + SHORT_STRING; at < near; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  let end = at - 1;
  do {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end < 0) return bytes.length;
  } while (isEscaped(bytes, end, at));
  return end;
}

/** @param from position of an unescaped character */
function isEscaped(bytes: Uint8Array, at: number, from: number): boolean {
  let backslashes = 0;
  while (at - 1 - backslashes >= from && bytes[at - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
