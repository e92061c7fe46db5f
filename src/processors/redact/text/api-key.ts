import { allMatches, isWordAt, type Finder, type Match } from './finder.js';
import { KEY_SIGNS, keyAt, LongKeys } from './find-known-key.js';
import { SIGNS_OF_KEYS, WIRE_SIGNS_OF_KEYS } from './key-signs.js';
import { codes, pairs, patternSign } from './signs.js';

/** `Authorization: Bearer …` and the like. */
const BEARER = /\b(?:bearer|token) +([A-Za-z0-9._~+/=-]{16,})/gi;
/** A name and a password, in base64. */
const BASIC = /\bbasic +([A-Za-z0-9+/]{8,}={0,2})/gi;
const ASSIGNS = '(?:\\s{1,3}string)?\\s{0,3}(?::{0,3}=|[?.]=|=>|:|>)(?:\\s|\\\\[nrt]){0,12}\\\\?["\'`]?';
const VALUE = '([^\\s"\'`\\\\,;&<>(){}[\\]]{8,512})';
/** `api_key=…`, `"client_secret": "…"`, `<password>…`. */
const SECRET = new RegExp(
  `(?:(?:api|account|access|secret|private|signing|encryption|auth|app|application|consumer|client|master|shared|storage|service|subscription)[_-]?key|secret|passwd|password|passphrase|pwd)\\\\?["'\`]?${ASSIGNS}${VALUE}`,
  'gi',
);
/**
 * `access_token=…`, `Authorization: …`. Harmless values are common, so the value must pass further checks. Not `jsonwebtoken`.
 */
const TOKEN = new RegExp(
  `(?:(?<![A-Za-z])token|Token|(?<![a-z])TOKEN|(?:access|api|auth|bot|id|refresh|session|user)token|[Aa]uthorization)\\\\?["'\`]?${ASSIGNS}${VALUE}`,
  'g',
);
/** `postgres://user:password@host`. */
const IN_URL = /:\/\/[^\s/?#@:"'\\]{0,128}:([^\s/?#@"'\\,;<>()]{3,256})@/g;
const URL_WITH_PASSWORD = new RegExp(IN_URL.source, 'y');
/** Password placeholders in texts about such addresses. */
const PLACEHOLDER = /^(?:[$%<{*[]|x+$|\.{3}|pass(?:word|wd)?$|pwd$|secret$)/i;
/** Keys, tokens and passwords, detected by their format or by the name before them. */
export const apiKey: Finder = {
  name: 'api_key',
  replacement: '[api_key]',
  signs: [
    ...SIGNS_OF_KEYS,
    patternSign({ pairs: pairs(codes('/'), codes('/')), before: codes(':') }, URL_WITH_PASSWORD, 2),
  ],
  wireSigns: WIRE_SIGNS_OF_KEYS,
  find: (text) => [
    ...knownIn(text),
    ...allMatches(text, BEARER, (found) => valueOf(found, found[1] ?? '', 16)),
    ...allMatches(text, BASIC, (found) => credentialsOf(found, found[1] ?? '')),
    ...allMatches(text, IN_URL, (found) => passwordIn(found, found[1] ?? '')),
    ...allMatches(text, SECRET, (found) => valueOf(found, found[1] ?? '', 8)),
    ...allMatches(text, TOKEN, (found) => tokenOf(found, found[1] ?? '')),
  ],
};

/** Keys of known formats; a part of a word, such as `task-…`, does not match. */
function knownIn(text: string): Match[] {
  const found: Match[] = [];
  const long = new LongKeys(text);
  for (const place of KEY_SIGNS.in(text)) {
    const key = keyAt(text, place);
    // In base64, any text may follow a plus sign.
    if (key !== undefined && !isWordAt(text, key.start - 1) && text[key.start - 1] !== '+')
      found.push(long.whole(key));
  }
  return found;
}

function credentialsOf(found: RegExpExecArray, value: string): Match | undefined {
  const end = found.index + found[0].length;
  const isPair = /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(value, 'base64').toString('latin1'));
  return isPair ? { start: end - value.length, end } : undefined;
}

function passwordIn(found: RegExpExecArray, password: string): Match | undefined {
  if (PLACEHOLDER.test(password)) return undefined;
  const end = found.index + found[0].length - 1;
  return { start: end - password.length, end };
}

/** The value at the end of a match, if it can be a secret and does not only refer to one. */
function valueOf(found: RegExpExecArray, value: string, shortest: number): Match | undefined {
  const end = found.index + found[0].length;
  const trimmed = withoutLastDots(value);
  if (trimmed.length < shortest || !/\d/.test(trimmed) || !/[A-Za-z]/.test(trimmed)) return undefined;
  // The name or location of the variable or file that holds the secret.
  if (/^(?:\$|%|process\.|os\.|env[.:]|https?:|file:|\.{0,2}\/)/i.test(trimmed)) return undefined;
  return { start: end - value.length, end: end - value.length + trimmed.length };
}

/** Not a pattern, which would rescan a long row of dots from each dot. */
function withoutLastDots(text: string): string {
  let end = text.length;
  while (text[end - 1] === '.') end--;
  return text.slice(0, end);
}

/** Like `valueOf`, if the value looks random. */
function tokenOf(found: RegExpExecArray, value: string): Match | undefined {
  const match = valueOf(found, value, 14);
  return match && /\d[^]*\d/.test(value) && entropy(value) >= LEAST_ENTROPY ? match : undefined;
}

const LEAST_ENTROPY = 2.8;

/** Shannon entropy in bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let sum = 0;
  for (const count of counts.values()) sum -= (count / text.length) * Math.log2(count / text.length);
  return sum;
}
