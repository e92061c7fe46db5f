import { isIPv6 } from 'node:net';
import { allMatches, isDigitAt, isWordAt, type Finder, type Match } from './finder.js';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const V4 = new RegExp(`${OCTET}(?:\\.${OCTET}){3}`, 'g');
/** What may be an address of IPv6, with an address of IPv4 at its end. */
const V6 = /[0-9a-f:]{2,}(?:[0-9a-f.]{0,15})/gi;
const SAYS_VERSION = /(?:\bv(?:er(?:sion)?)?\.?|version|release|build|section|chapter|§)[\s:=_-]{0,3}$/i;
const SHORT_WAY = 16;

/** Addresses of IPv4 and IPv6. */
export const ipAddress: Finder = {
  name: 'ip_address',
  replacement: '[ip_address]',
  hints: [/\.\d{1,3}\.\d{1,3}\.\d/, /::|:[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}:/],
  find: (text) => [
    ...allMatches(text, V4, (found) => addressOfV4(text, found)),
    ...(text.includes(':') ? allMatches(text, V6, (found) => addressOfV6(text, found)) : []),
  ],
};

function addressOfV4(text: string, found: RegExpExecArray): Match | undefined {
  const start = found.index;
  const end = start + found[0].length;
  if (isPartOfMore(text, start, end)) return undefined;
  return SAYS_VERSION.test(text.slice(Math.max(0, start - SHORT_WAY), start)) ? undefined : { start, end };
}

/** Of a longer row of numbers, such as `1.2.3.4.5`, or of a name, such as `lib-1.2.3.4` or `1.2.3.4-beta`. */
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
  // The end of a sentence, or what follows in a list.
  while (end > start && /[.:]/.test(text[end - 1] ?? '') && !text.slice(start, end).endsWith('::')) end--;
  const address = text.slice(start, end);
  if (!isIPv6(address) || isWordAt(text, start - 1) || isWordAt(text, end)) return undefined;
  return isMeant(address) ? { start, end } : undefined;
}

/** `a::b` is how programs name things, too. */
function isMeant(address: string): boolean {
  const groups = address.split(':').filter((group) => group !== '');
  if (!address.includes('::')) return true;
  return (
    address === '::1' ||
    groups.length >= 3 ||
    /^(?:2[0-9a-f]{3}|3[0-9a-f]{3}|f[cd][0-9a-f]{2}|fe80|ff0[0-9a-f]):/i.test(address)
  );
}
