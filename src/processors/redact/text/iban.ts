import { allMatches, isWordAt, type Finder, type Match } from './finder.js';
import { DIGITS, either, pairs } from './signs.js';
import { isDigitIn } from './source.js';

/** Number of letters and digits by country (SWIFT's registry of IBANs). */
const LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 ' +
    'FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 ' +
    'MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ' +
    'SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
const START = /[A-Z]{2}\d{2}/gi;

/** IBANs: recognized by country, length and check digits, with at most one blank or hyphen between two characters. */
export const iban: Finder = {
  name: 'iban',
  replacement: '[iban]',
  signs: LETTERS.map((second) => {
    const before = LETTERS.filter((first) => first + second in LENGTHS).flatMap(either);
    return {
      pairs: pairs(either(second), DIGITS),
      before,
      behind: DIGITS,
      isThere: (source, at) =>
        isDigitIn(source, at + 1) &&
        before.includes(source.code(at - 2)) &&
        endOfNumber(source.text, at - 2) !== undefined,
    };
  }),
  find: (text) => allMatches(text, START, ({ index }) => ibanAt(text, index)),
};

function ibanAt(text: string, start: number): Match | undefined {
  const end = endOfNumber(text, start);
  return end === undefined || isWordAt(text, start - 1) || isWordAt(text, end) ? undefined : { start, end };
}

/** The end of a number with the length of its country and valid check digits. */
function endOfNumber(text: string, start: number): number | undefined {
  const length = LENGTHS[text.slice(start, start + 2).toUpperCase()];
  if (length === undefined) return undefined;
  // ISO 7064, MOD 97-10: the first four characters are moved to the end.
  let [rest, head, headFactor] = [0, 0, 1];
  let end = start;
  for (let taken = 0; taken < length; end++) {
    const value = valueOf(text.charCodeAt(end));
    if (value < 0) {
      const isBetween = text[end] === ' ' || text[end] === '-';
      if (isBetween && isWordAt(text, end + 1)) continue;
      return undefined;
    }
    const factor = value > 9 ? 100 : 10;
    if (taken < HEAD) {
      head = head * factor + value;
      headFactor *= factor;
    } else rest = (rest * factor + value) % 97;
    taken++;
  }
  return (rest * headFactor + head) % 97 === 1 ? end : undefined;
}

/** The country and the check digits. */
const HEAD = 4;

/** The value of a digit, or of a letter from 10 on, ignoring case; -1 for anything else. */
function valueOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const large = code & ~0x20;
  return large >= 65 && large <= 90 ? large - 55 : -1;
}
