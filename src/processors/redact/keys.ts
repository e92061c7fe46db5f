import { createHmac } from 'node:crypto';
import type { JsonValue } from '../../signal/attributes.js';
import { serializeJson } from '../../signal/json.js';
import { rarestPair } from './text/literals.js';
import { ANY, codes, either, pairs, type Sign } from './text/signs.js';

/** Replaces a value that only its key marks as secret. */
export const REDACTED = '[redacted]';

const BETWEEN_WORDS = /[._-]/g;
const SEPARATORS = codes('._-');
/** Characters written the same in JSON text and in bytes. */
const PLAIN_NAME = /^[\x20-\x7e]{2,}$/;
const ESCAPED = /["\\]/;
/** Hexadecimal digits of a hash that are kept: 128 bits. */
const HASH_DIGITS = 32;

/** A set of key names. Case and separators are ignored: `user_id`, `user.id` and `userId` are equal. */
export class KeyNames {
  readonly #names: ReadonlySet<string>;
  /** Signs that a text or bytes may contain one of the names; undefined if no signs can cover them all. */
  readonly signs: readonly Sign[] | undefined;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(plain));
    const known = [...this.#names];
    // Upper-case bytes can be derived for ASCII letters only.
    const areKnown = known.every((name) => PLAIN_NAME.test(name) && !ESCAPED.test(name));
    this.signs = areKnown ? known.map(signOf) : undefined;
  }

  /** Also matches the last part of a key: `http.request.header.authorization` matches `authorization`. */
  has(key: string): boolean {
    if (this.#names.size === 0) return false;
    return this.#names.has(plain(key)) || this.#names.has(plain(key.slice(key.lastIndexOf('.') + 1)));
  }
}

/** A sign for a name: two of its characters. */
function signOf(name: string): Sign {
  const second = rarestPair(name);
  const at = (place: number) => either(name.slice(place, place + 1));
  const allowed = (place: number) =>
    place >= 0 && place < name.length ? [...at(place), ...SEPARATORS] : ANY;
  return {
    pairs: pairs([...at(second - 1), ...SEPARATORS], at(second)),
    // If a separator is between the two characters, the one before it may be the first.
    before: [...allowed(second - 2), ...at(second - 1)],
    behind: allowed(second + 1),
    isThere: ({ text }, at) =>
      isAlong(text, at, 1, name.slice(second)) && isAlong(text, at - 1, -1, reversed(name.slice(0, second))),
  };
}

/**
 * Whether these characters follow each other from a position on, ignoring case and separators.
 *
 * @param step 1 forward, -1 backward
 */
function isAlong(text: string, from: number, step: 1 | -1, characters: string): boolean {
  let at = from;
  for (let next = 0; next < characters.length;) {
    const found = text[at];
    if (found === undefined) return false;
    if (found.toLowerCase() === characters[next]) next++;
    else if (found !== '.' && found !== '_' && found !== '-') return false;
    at += step;
  }
  return true;
}

function reversed(characters: string): string {
  return Array.from(characters).toReversed().join('');
}

/** Hashes values: equal values have equal hashes, which cannot be reversed without the secret. */
export class ValueHash {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  of(value: JsonValue): string {
    const text = typeof value === 'string' ? value : serializeJson(value);
    return `hmac-${createHmac('sha256', this.#secret).update(text).digest('hex').slice(0, HASH_DIGITS)}`;
  }
}

function plain(key: string): string {
  return key.toLowerCase().replaceAll(BETWEEN_WORDS, '');
}
