import { KEY_SIGNS, keyAt } from './find-known-key.js';
import type { Place } from './literals.js';

const ASCII = 128;

/** What two neighbours may be the sign of. */
const ASSIGNMENT = 1;
const SCHEME = 2;
const KNOWN = 4;

/** The last two letters of a name that something secret is assigned to, and of a scheme before a secret. */
const ENDS_OF_NAMES = pairs('ey et en wd rd se on');
const ENDS_OF_SCHEMES = pairs('er ic en');
/** What assigns; between a key and its value in OTLP stand bytes below the blank. */
const ASSIGNS = [...Buffer.from(':=>'), ...Array(32).keys()];
const BETWEEN = new Set(Buffer.from('"\'\\ `?.:'));
const BLANK = 32;

/** By the codes of two neighbours: all that they may be the sign of, so that one look says it. Nearly all are of nothing. */
const LOOK = new Uint8Array(ASCII * ASCII);
KEY_SIGNS.table.forEach((list, pair) => {
  if (list !== 0) LOOK[pair] = KNOWN;
});
for (const before of [...secondsOf(ENDS_OF_NAMES), ...BETWEEN])
  for (const code of ASSIGNS) mark(before, code, ASSIGNMENT);
for (const before of secondsOf(ENDS_OF_SCHEMES)) mark(before, BLANK, SCHEME);

const NAME = /(?:key|secret|token|passwd|password|pwd|passphrase|authorization)$/i;
const SCHEME_NAME = /(?:bearer|token|basic)$/i;
const FAR = 16;

/**
 * Whether a text may hold a key or a secret, or the name of one that is told its value. It takes a tenth of the time of a pattern
 * with so many beginnings: what stands around a sign is looked at only there.
 */
export function haveSigns(text: string, bytes?: Uint8Array): boolean {
  return bytes === undefined ? haveSignsInText(text) : haveSignsInBytes(bytes, text);
}

/** Twice the same, as a call for each character would take longer than all that is done with it. */
function haveSignsInBytes(bytes: Uint8Array, text: string): boolean {
  let before = 0;
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] ?? 0;
    if (code >= ASCII) before = 0;
    else {
      const pair = before * ASCII + code;
      if (LOOK[pair] !== 0 && isSign(text, at, pair)) return true;
      before = code;
    }
  }
  return false;
}

function haveSignsInText(text: string): boolean {
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= ASCII) before = 0;
    else {
      const pair = before * ASCII + code;
      // Nearly all end here.
      if (LOOK[pair] !== 0 && isSign(text, at, pair)) return true;
      before = code;
    }
  }
  return false;
}

function isSign(text: string, at: number, pair: number): boolean {
  const signs = LOOK[pair] ?? 0;
  if (
    (signs & KNOWN) !== 0 &&
    KEY_SIGNS.some(text, at, KEY_SIGNS.table[pair] ?? 0, (place) => isKey(text, place))
  )
    return true;
  if ((signs & ASSIGNMENT) !== 0) {
    const end = nameEnd(text, at);
    if (ENDS_OF_NAMES[pairBefore(text, end)] === 1 && NAME.test(text.slice(Math.max(0, end - FAR), end)))
      return true;
  }
  return (
    (signs & SCHEME) !== 0 &&
    ENDS_OF_SCHEMES[pairBefore(text, at)] === 1 &&
    SCHEME_NAME.test(text.slice(Math.max(0, at - FAR), at))
  );
}

function isKey(text: string, place: Place): boolean {
  return keyAt(text, place) !== undefined;
}

/** Where the name ends that something is assigned to: before quotes and blanks. */
function nameEnd(text: string, at: number): number {
  let end = at;
  while (end > 0 && at - end < 6 && BETWEEN.has(text.charCodeAt(end - 1))) end--;
  return end;
}

/** The two characters before a place, small, as one number; 0 where one of them is not of ASCII. */
function pairBefore(text: string, at: number): number {
  const [first, second] = [text.charCodeAt(at - 2), text.charCodeAt(at - 1)];
  return first < ASCII && second < ASCII ? small(first) * ASCII + small(second) : 0;
}

function small(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}

function pairs(list: string): Uint8Array {
  const known = new Uint8Array(ASCII * ASCII);
  for (const pair of list.split(' ')) known[pairBefore(pair, 2)] = 1;
  return known;
}

/** The codes of the second characters of pairs, small and large. */
function secondsOf(known: Uint8Array): number[] {
  return [...known.keys()]
    .filter((pair) => known[pair] === 1)
    .flatMap((pair) => [pair % ASCII, (pair % ASCII) - 32]);
}

function mark(before: number, code: number, sign: number): void {
  LOOK[before * ASCII + code] = (LOOK[before * ASCII + code] ?? 0) | sign;
}
