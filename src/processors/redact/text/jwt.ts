import { allMatches, type Finder } from './finder.js';
import { codes, pairs, patternSign } from './signs.js';

/**
 * Three parts, or five if encrypted. The first begins with the base64 form of `{"`. A match starts only where a word
 * with dots after it begins: starting at every `eyJ` of a long word would take quadratic time.
 */
const TOKEN = /(?<![\w-])(?=[\w-]+\.[\w-]*\.)[\w-]*?(?<!\w)(eyJ[\w-]{5,}(?:\.[\w-]*){2,4})/g;

/** JSON Web Tokens, by their header. */
export const jwt: Finder = {
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
