import { isIPv6 } from 'node:net';
import { allMatches, isDigitAt, isWordAt, type Finder, type Match } from './finder.js';
import { BEGINS_NUMBER, codes, pairs, patternSign } from './signs.js';
import { isDigitIn, type Source } from './source.js';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const V4 = new RegExp(`${OCTET}(?:\\.${OCTET}){3}`, 'g');
/** Candidates for IPv6 addresses, possibly ending in an IPv4 address. */
const V6 = /[0-9a-f:]{2,}(?:[0-9a-f.]{0,15})/gi;
const VERSION_WORDS = /(?:\bv(?:er(?:sion)?)?\.?|version|release|build|section|chapter|§)[\s:=_-]{0,3}$/i;
const SHORT_WAY = 16;
const DOT = 0x2e;
const IN_V4 = codes('0123456789.');
const HEX = codes('0123456789abcdefABCDEF');
const IN_V6 = [...HEX, ...codes(':')];
/** Maximum length of an IPv6 address. */
const LONGEST = 45;
/** Matches every address with `::` that {@link isMeant} accepts. */
const MEANT = /::1|[0-9a-f]:[0-9a-f]|(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe80|ff0[0-9a-f])::/i;

/** IPv4 and IPv6 addresses. */
export const ipAddress: Finder = {
  name: 'ip_address',
  replacement: '[ip_address]',
  signs: [
    { pairs: BEGINS_NUMBER, behind: IN_V4, third: IN_V4, fifth: IN_V4, isThere: mayBeginV4 },
    patternSign(
      { pairs: pairs(codes(':'), HEX), behind: IN_V6, third: IN_V6, fifth: IN_V6 },
      /(?::[0-9a-f]{1,4}){5}:/iy,
      1,
    ),
    {
      pairs: pairs(codes(':'), codes(':')),
      isThere: ({ text }, at) => MEANT.test(text.slice(Math.max(0, at - LONGEST), at + LONGEST)),
    },
  ],
  find: (text) => [
    ...allMatches(text, V4, (found) => addressOfV4(text, found)),
    ...(text.includes(':') ? allMatches(text, V6, (found) => addressOfV6(text, found)) : []),
  ],
};

/** Whether three dots are between digits. In bytes, the length of the text may look like a digit before them. */
function mayBeginV4(source: Source, start: number): boolean {
  let at = start;
  for (let most = 4, dots = 0; dots < 3; most = 3, dots++) {
    const end = at + most;
    while (at < end && isDigitIn(source, at)) at++;
    if (source.code(at) !== DOT || !isDigitIn(source, at + 1)) return false;
    at++;
  }
  return true;
}

function addressOfV4(text: string, found: RegExpExecArray): Match | undefined {
  const start = found.index;
  const end = start + found[0].length;
  if (isPartOfMore(text, start, end)) return undefined;
  return VERSION_WORDS.test(text.slice(Math.max(0, start - SHORT_WAY), start)) ? undefined : { start, end };
}

/** Whether it is part of a longer number, such as `1.2.3.4.5`, or of a name, such as `lib-1.2.3.4` or `1.2.3.4-beta`. */
function isPartOfMore(text: string, start: number, end: number): boolean {
  const [before, behind] = [text[start - 1] ?? '', text[end] ?? ''];
  if (isWordAt(text, start - 1) || isWordAt(text, end)) return true;
  if ((before === '.' || before === '-') && isWordAt(text, start - 2)) return true;
  return (
    (behind === '.' && isDigitAt(text, end + 1)) || (behind === '-' && /[a-z]/i.test(text[end + 1] ?? ''))
  );
}

function addressOfV6(text: string, found: RegExpExecArray): Match | undefined {
  const start = found.index;
  let end = start + found[0].length;
  // Punctuation after the address.
  while (end > start && /[.:]/.test(text[end - 1] ?? '') && !text.slice(start, end).endsWith('::')) end--;
  const address = text.slice(start, end);
  if (!isIPv6(address) || isWordAt(text, start - 1) || isWordAt(text, end)) return undefined;
  return isMeant(address) ? { start, end } : undefined;
}

/** Excludes names such as `a::b` in programs. */
function isMeant(address: string): boolean {
  const groups = address.split(':').filter((group) => group !== '');
  if (!address.includes('::')) return true;
  return (
    address === '::1' ||
    groups.length >= 3 ||
    /^(?:2[0-9a-f]{3}|3[0-9a-f]{3}|f[cd][0-9a-f]{2}|fe80|ff0[0-9a-f]):/i.test(address)
  );
}
