import { keyAt } from './find-known-key.js';
import { KNOWN_KEYS } from './known-keys.js';
import { rarestPair } from './literals.js';
import { ANY, codes, either, pairs, type Sign } from './signs.js';
import type { Source } from './source.js';

/** Bytes that may follow a key in protobuf: fields of a value. */
const FIELDS: ReadonlySet<number> = new Set(
  ANY.filter((code) => code < 32 && !codes('\t\n\v\f\r').includes(code)),
);

/** Characters of an assignment, and characters that may precede it, also in nested JSON. */
const BEHIND_NAMES: ReadonlySet<number> = new Set(codes(':=>"\'\\`?. \t\n\v\f\r'));
const BLANK = 0x20;

const NAME =
  /(?:(?:api|account|access|secret|private|signing|encryption|auth|app|application|consumer|client|master|shared|storage|service|subscription)[_-]?key|secret|token|passwd|password|pwd|passphrase|authorization)$/i;
/** Endings of all secret names. */
const NAMES = ['key', 'secret', 'token', 'passwd', 'password', 'pwd', 'passphrase', 'authorization'];
/** Longer than any of them. */
const FAR = 20;
/** Matches after a name: the assignment of a possible secret, including quotes of nested JSON and its lists. */
const ASSIGNED =
  /[\\"'`]{0,40}(?:\s{1,3}string)?\s{0,3}(?::{0,3}=|[?.]=|=>|:|>)(?:\s|\\[nrt]){0,12}[\\"'`]{0,40}(?:\[|([^\s"'`\\,;&<>(){}[\]]{8,512}))/iy;
/** The value after a scheme: a base64 pair, or a token. */
const CREDENTIALS = / {1,16}[A-Za-z0-9+/._~=-]{8}/y;

/** Keys whose format identifies the issuer. */
const known: readonly Sign[] = KNOWN_KEYS.map(({ sign }, which) =>
  literalSign(sign, codes, ({ text }, at) => keyAt(text, { at, which }, 'loose') !== undefined),
);

/** `api_key=…`, `"client_secret": "…"`. */
const assigned: readonly Sign[] = NAMES.map((name) =>
  literalSign(name, either, (source, at) => {
    const end = at + name.length;
    return (
      BEHIND_NAMES.has(source.code(end)) && isNameOfSecret(source.text, end) && isAssigned(source.text, end)
    );
  }),
);

/** A secret's name as the key of an attribute, with any value. */
const attributes: readonly Sign[] = NAMES.map((name) =>
  literalSign(name, either, (source, at) => {
    const end = at + name.length;
    return FIELDS.has(source.code(end)) && isNameOfSecret(source.text, end);
  }),
);

/** `Bearer …` */
const credentials: readonly Sign[] = ['bearer', 'token', 'basic'].map((scheme) =>
  literalSign(scheme, either, (source, at) => {
    CREDENTIALS.lastIndex = at + scheme.length;
    return source.code(at + scheme.length) === BLANK && CREDENTIALS.test(source.text);
  }),
);

/** Signs of keys and secrets, and of names that are followed by a secret. */
export const SIGNS_OF_KEYS: readonly Sign[] = [...known, ...assigned, ...credentials];
export const WIRE_SIGNS_OF_KEYS = attributes;

/**
 * A sign for a literal: two adjacent characters of it.
 *
 * @param codesOf the codes of a character; those of both cases if case is ignored
 */
function literalSign(
  literal: string,
  codesOf: (character: string) => readonly number[],
  isIt: (source: Source, at: number) => boolean,
): Sign {
  const second = rarestPair(literal);
  const at = (place: number) =>
    place >= 0 && place < literal.length ? codesOf(literal.slice(place, place + 1)) : ANY;
  const forms =
    codesOf === either
      ? [codes(literal.toLowerCase()), codes(literal.toUpperCase())]
      : [codes(literal), codes(literal)];
  return {
    pairs: pairs(at(second - 1), at(second)),
    before: at(second - 2),
    behind: at(second + 1),
    third: at(second + 3),
    fifth: at(second + 5),
    isThere: (source, place) => {
      const start = place - second;
      return isAt(source, start, forms) && isIt(source, start);
    },
  };
}

function isAt(
  source: Source,
  start: number,
  [one = [], other = []]: readonly (readonly number[])[],
): boolean {
  for (let at = 0; at < one.length; at++) {
    const code = source.code(start + at);
    if (code !== one[at] && code !== other[at]) return false;
  }
  return true;
}

function isNameOfSecret(text: string, end: number): boolean {
  return NAME.test(text.slice(Math.max(0, end - FAR), end));
}

function isAssigned(text: string, end: number): boolean {
  ASSIGNED.lastIndex = end;
  const found = ASSIGNED.exec(text);
  if (found === null) return false;
  const [, value] = found;
  return value === undefined || (/\d/.test(value) && /[A-Za-z]/.test(value));
}
