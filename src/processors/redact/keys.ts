import { createHmac } from 'node:crypto';
import type { JsonValue } from '../../signal/attributes.js';
import { printJson } from '../../signal/json.js';

/** What replaces a value that only its key tells of. */
export const REDACTED = '[redacted]';

const BETWEEN_WORDS = /[._-]/g;
/** As many hexadecimal digits of the hash are kept: 128 bits. */
const HASH_DIGITS = 32;

/** A set of names of keys: upper and lower case are the same, and `user_id`, `user.id` and `userId` are. */
export class KeyNames {
  readonly #names: ReadonlySet<string>;
  /** Whether bytes, read as Latin-1, may hold one of them. Undefined without any. */
  readonly hint: RegExp | undefined;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(plain));
    const known = [...this.#names];
    // Only of letters of ASCII it is known what large ones are as bytes.
    const pattern = known.every((name) => /^[\x20-\x7e]*$/.test(name))
      ? known.map((name) => Array.from(name, escaped).join('[._-]*')).join('|')
      : '';
    this.hint = known.length === 0 ? undefined : new RegExp(pattern, 'i');
  }

  /** Also by its last part alone: `http.request.header.authorization` is `authorization`. */
  has(key: string): boolean {
    if (this.#names.size === 0) return false;
    return this.#names.has(plain(key)) || this.#names.has(plain(key.slice(key.lastIndexOf('.') + 1)));
  }
}

/** Makes hashes of values: equal ones have equal ones, and nobody without the secret can tell of which. */
export class ValueHash {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  of(value: JsonValue): string {
    const text = typeof value === 'string' ? value : printJson(value);
    return `hmac-${createHmac('sha256', this.#secret).update(text).digest('hex').slice(0, HASH_DIGITS)}`;
  }
}

function plain(key: string): string {
  return key.toLowerCase().replaceAll(BETWEEN_WORDS, '');
}

function escaped(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}
