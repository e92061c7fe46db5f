import { allMatches, isWordAt, type Finder, type Match } from './finder.js';
import { codes, pairs, patternSign } from './signs.js';

const LOCAL = /[\p{L}\p{N}\p{M}.!#$%&'*+/=?^_`{|}~-]/u;
const DOMAIN = /[\p{L}\p{N}\p{M}.-]/u;
const LONGEST_LOCAL = 64;
const LONGEST_DOMAIN = 253;
/** File extensions that look like a top-level domain: `logo@2x.png`, `left-pad@1.3.0.tgz`. */
const FILES = new Set(
  'png jpg jpeg gif svg webp avif ico tgz gz tar js mjs cjs ts tsx jsx css scss html htm json yaml yml xml txt csv pdf exe dll map vue woff woff2'.split(
    ' ',
  ),
);
/** User names of logins that are not mailboxes: `git@github.com:owner/name.git`. */
const NO_MAILBOXES = new Set(['git', 'hg', 'svn']);

/** Codes that may precede the `@`; 0 stands for non-ASCII. */
const ENDS_LOCAL = [0, ...codes('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$%*+^_~-')];
/** The `@` and a possible domain. */
const BEHIND = /(?:@|%40)[\w\x80-\uffff][\w\x80-\uffff.-]{0,253}?\.(?:[A-Za-z\x80-\uffff]{2}|xn--)/iy;

/** E-mail addresses, also with `%40`, in any script. */
export const email: Finder = {
  name: 'email',
  replacement: '[email]',
  signs: [
    patternSign({ pairs: pairs(ENDS_LOCAL, codes('@')) }, BEHIND),
    patternSign({ pairs: pairs(codes('%'), codes('4')), behind: codes('0') }, BEHIND, 1),
  ],
  find: (text) => allMatches(text, /@|%40/g, (found) => addressAround(text, found.index, found[0].length)),
};

function addressAround(text: string, at: number, length: number): Match | undefined {
  let start = at;
  while (start > 0 && at - start < LONGEST_LOCAL && LOCAL.test(text[start - 1] ?? '')) start--;
  // In a query or a path, the address starts after the preceding separator.
  const before = text.slice(start, at);
  start += before.search(/[^/=?&'!#{|}`]*$/);
  while (start < at && text[start] === '.') start++;
  let end = at + length;
  const first = end;
  while (end < text.length && end - first <= LONGEST_DOMAIN && DOMAIN.test(text[end] ?? '')) end++;
  while (end > first && !isWordAt(text, end - 1)) end--;
  const local = text.slice(start, at);
  const labels = text.slice(first, end).split('.');
  const last = labels.at(-1) ?? '';
  if (local === '' || local.endsWith('.') || NO_MAILBOXES.has(local.toLowerCase())) return undefined;
  if (labels.length < 2 || labels.some((label) => label === '' || label.startsWith('-'))) return undefined;
  return /^(?:\p{L}{2,63}|xn--[a-z0-9-]+)$/iu.test(last) && !FILES.has(last.toLowerCase())
    ? { start, end }
    : undefined;
}
