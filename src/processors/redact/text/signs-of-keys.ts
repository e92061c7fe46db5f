/** What a character may be the sign of. */
const SEPARATOR = 1;
const ASSIGNMENT = 2;
const BLANK = 3;
const LARGE_A = 4;
const LARGE_K = 5;
const DOT = 6;

/** By code; characters beyond ASCII are no signs. Between a key and its value in OTLP stand bytes below the blank. */
const ASCII = 128;
const SIGNS = new Uint8Array(ASCII);
SIGNS.fill(ASSIGNMENT, 0, 32);
for (const [characters, sign] of [
  ['-_', SEPARATOR],
  [':=', ASSIGNMENT],
  [' ', BLANK],
  ['A', LARGE_A],
  ['K', LARGE_K],
  ['.', DOT],
] as const)
  for (const character of characters) SIGNS[character.charCodeAt(0)] = sign;

/** The two characters before `-` or `_` in what keys begin with: `sk-`, `ghp_`. */
const BEFORE_SEPARATOR = pairs(
  'gd sa hc hx kr ys yu v2 bp sp tp nd fw ak sk pk rk lf ve st ec PX hp ho hu hs hr ub at dt rt bt xa xb xe xo xp xr xs pp ey pm pi hf v1 ca pa ss r8 ai lx pi tn et jd op in --',
);
/** The last two letters of a name that something secret is assigned to. */
const BEFORE_ASSIGNMENT = pairs('ey et en wd rd');
const BEFORE_BLANK = pairs('er ic en');
const AFTER_LARGE_A = codes('KSRI');
const BETWEEN = codes('"\'\\ ');

/** The one character before each sign, by sign and code. */
const MAY_STAND_BEFORE = new Uint8Array(7 * ASCII);
for (const [sign, characters] of [
  [SEPARATOR, secondsOf(BEFORE_SEPARATOR)],
  [ASSIGNMENT, `${secondsOf(BEFORE_ASSIGNMENT)}"'\\ `],
  [BLANK, secondsOf(BEFORE_BLANK)],
  [LARGE_K, 'S'],
  [DOT, 'G9sbk'],
] as const)
  for (const character of characters) MAY_STAND_BEFORE[sign * ASCII + character.charCodeAt(0)] = 1;
MAY_STAND_BEFORE.fill(1, LARGE_A * ASCII, (LARGE_A + 1) * ASCII);
/** The same by two codes, so that one look says all. */
const IS_SIGN_BEHIND = new Uint8Array(ASCII * ASCII);
SIGNS.forEach((sign, code) => {
  for (let before = 0; sign !== 0 && before < ASCII; before++)
    IS_SIGN_BEHIND[before * ASCII + code] = MAY_STAND_BEFORE[sign * ASCII + before] ?? 0;
});

/** What stands around a sign, where it is one. */
const BEGINNING =
  /(?:sk-|pk-lf|[spr]k_(?:live|test)|whsec_|GOCSPX-|gh[pousr]_|github_pat|gl(?:pat|dt|rt|cbt)-|xox[abeoprs]-|xapp-|key-|npm_|pypi-|hf_|dop_v1|shp(?:at|ca|pa|ss)_|r8_|gsk_|xai-|pplx-|lin_api|ntn_|secret_|jd_|figd_|glsa_|ph[cx]_|dckr_pat|sntry[su]_|tskey-|NRAK-|pat-(?:na|eu)|pcsk_|csk-|lsv2_|sbp_|sq0(?:csp|atp)-|rnd_|fw_|SECRET-KEY-1)[\w+/=-]{8}|-----BEGIN /;
const NAME = /(?:key|secret|token|passwd|password|pwd)$/i;
const SCHEME = /(?:bearer|token|basic)$/i;
const LARGE = /^(?:(?:A[KS]I|ARO|AID)A|AIza)/;
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
      if (IS_SIGN_BEHIND[before * ASCII + code] === 1 && isSign(text, at, SIGNS[code] ?? 0)) return true;
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
      // Nearly all end here.
      if (IS_SIGN_BEHIND[before * ASCII + code] === 1 && isSign(text, at, SIGNS[code] ?? 0)) return true;
      before = code;
    }
  }
  return false;
}

function isSign(text: string, at: number, sign: number): boolean {
  switch (sign) {
    case SEPARATOR:
      return (
        BEFORE_SEPARATOR[pairBefore(text, at)] === 1 &&
        BEGINNING.test(text.slice(Math.max(0, at - FAR), at + FAR))
      );
    case ASSIGNMENT: {
      const end = nameEnd(text, at);
      return (
        BEFORE_ASSIGNMENT[pairBefore(text, end)] === 1 && NAME.test(text.slice(Math.max(0, end - FAR), end))
      );
    }
    case BLANK:
      return BEFORE_BLANK[pairBefore(text, at)] === 1 && SCHEME.test(text.slice(Math.max(0, at - FAR), at));
    case LARGE_A:
      return AFTER_LARGE_A.has(text.charCodeAt(at + 1)) && LARGE.test(text.slice(at, at + 4));
    case LARGE_K:
      return /^[0-9a-f]{8}/.test(text.slice(at + 1, at + 9));
    default:
      return /(?:SG|ya29|hv[sb]|\b[sp]k|lack)$/.test(text.slice(Math.max(0, at - 4), at));
  }
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
  return first < 128 && second < 128 ? (small(first) << 7) | small(second) : 0;
}

function small(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}

function pairs(list: string): Uint8Array {
  const known = new Uint8Array(1 << 14);
  for (const pair of list.split(' ')) known[pairBefore(pair, 2)] = 1;
  return known;
}

/** The second characters of pairs, small and large. */
function secondsOf(known: Uint8Array): string {
  let seconds = '';
  known.forEach((isKnown, pair) => {
    const second = String.fromCharCode(pair % ASCII);
    if (isKnown === 1) seconds += second + second.toUpperCase();
  });
  return seconds;
}

function codes(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters));
}
