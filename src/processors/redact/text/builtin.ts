import { apiKey } from './api-key.js';
import { creditCard } from './credit-card.js';
import { type Finder, allMatches, isWordAt, type Match } from './finder.js';
import { iban } from './iban.js';
import { ipAddress } from './ip-address.js';
import { phone } from './phone.js';
import { codes, pairs, patternSign } from './signs.js';

/**
 * Three parts, or five if encrypted. The first begins with the base64 form of `{"`. A match starts only where a word
 * with dots after it begins: starting at every `eyJ` of a long word would take quadratic time.
 */
const TOKEN = /(?<![\w-])(?=[\w-]+\.[\w-]*\.)[\w-]*?(?<!\w)(eyJ[\w-]{5,}(?:\.[\w-]*){2,4})/g;

/** JSON Web Tokens, by their header. */
const jwt: Finder = {
  name: 'jwt',
  replacement: '[jwt]',
  signs: [patternSign({ pairs: pairs(codes('y'), codes('J')), before: codes('e') }, /eyJ[\w-]{5}/y, 2)],
  find: (text) =>
    allMatches(text, TOKEN, (found) => {
      const [all, token = ''] = found;
      const end = found.index + all.length;
      return hasHeader(token) ? { start: end - token.length, end } : undefined;
    }),
};

function hasHeader(token: string): boolean {
  const [header = '', content = ''] = token.split('.');
  if (content.length < 2) return false;
  try {
    const fields: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
    return typeof fields === 'object' && fields !== null && 'alg' in fields;
  } catch {
    return false;
  }
}

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
const email: Finder = {
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

/** Built-in finders. If two find the same text, the first one's name is used. */
export const BUILTIN = {
  jwt,
  api_key: apiKey,
  email,
  iban,
  credit_card: creditCard,
  ip_address: ipAddress,
  phone,
} as const satisfies Readonly<Record<string, Finder>>;

export type BuiltinName = keyof typeof BUILTIN;
export const BUILTIN_NAMES = Object.keys(BUILTIN) as BuiltinName[];
