import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { setOwn } from '../any-value.js';

/** Printed arguments of calls are short. */
const LONGEST = 16_384;
const DEEPEST = 32;
const TOKEN =
  /\s*(?:([[\](){},:])|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|(True|False|None)\b)/sy;
const CONSTANTS: Readonly<Record<string, JsonValue>> = { True: true, False: false, None: null };
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' };
const END: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };

/**
 * Parses a printed Python value such as `{'city': 'Berlin', 'days': None}`: dictionaries with text keys, lists, tuples, texts,
 * numbers and constants.
 *
 * @returns undefined for all other texts, and for a single word or number, which may be an ordinary text
 */
export function parsePython(text: string): JsonValue | undefined {
  if (text.length > LONGEST || !/^\s*[{['"(]/.test(text)) return undefined;
  const reader = new LiteralReader(text);
  try {
    const value = reader.value(0);
    return reader.isAtEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof NotPython) return undefined;
    throw error;
  }
}

class NotPython extends Error {}

class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    return this.#text.slice(this.#at).trim() === '';
  }

  value(depth: number): JsonValue {
    const [, mark, quoted, number, constant] = this.#next();
    if (quoted !== undefined) return unescaped(quoted.slice(1, -1)).toWellFormed();
    if (number !== undefined) return exact(Number(number));
    if (constant !== undefined) return CONSTANTS[constant] ?? null;
    const end = END[mark ?? ''];
    if (end === undefined || depth === DEEPEST) throw new NotPython();
    return mark === '{' ? this.#dictionary(depth) : this.#list(end, depth);
  }

  #list(end: string, depth: number): JsonValue[] {
    const list: JsonValue[] = [];
    while (!this.#takes(end)) {
      list.push(this.value(depth + 1));
      if (!this.#takes(',')) {
        if (!this.#takes(end)) throw new NotPython();
        break;
      }
    }
    return list;
  }

  #dictionary(depth: number): JsonObject {
    const object: JsonObject = {};
    while (!this.#takes('}')) {
      const key = this.value(depth + 1);
      if (typeof key !== 'string' || !this.#takes(':')) throw new NotPython();
      setOwn(object, key, this.value(depth + 1));
      if (!this.#takes(',')) {
        if (!this.#takes('}')) throw new NotPython();
        break;
      }
    }
    return object;
  }

  #next(): RegExpExecArray {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text);
    if (found === null) throw new NotPython();
    this.#at = TOKEN.lastIndex;
    return found;
  }

  #takes(mark: string): boolean {
    const before = this.#at;
    TOKEN.lastIndex = before;
    const found = TOKEN.exec(this.#text);
    if (found?.[1] !== mark) return false;
    this.#at = TOKEN.lastIndex;
    return true;
  }
}

/** @throws NotPython for a number that would lose precision */
function exact(number: number): number {
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    throw new NotPython();
  return number;
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs,
    (_, two?: string, four?: string, eight?: string, other?: string) => {
      const code = parseInt(two ?? four ?? eight ?? '', 16);
      if (other === undefined) return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
      return ESCAPES[other] ?? other;
    },
  );
}
