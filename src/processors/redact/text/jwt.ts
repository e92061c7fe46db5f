import { allMatches, isWordAt, whole, type Finder } from './finder.js';

/** Three parts, or five where the content is encrypted. The first begins with the letters that `{"` is in base64. */
const TOKEN = /eyJ[\w-]{5,}(?:\.[\w-]*){2,4}/g;

/** JSON Web Tokens, by their header. */
export const jwt: Finder = {
  name: 'jwt',
  replacement: '[jwt]',
  hints: [/eyJ[\w-]{5,}\./],
  find: (text) =>
    allMatches(text, TOKEN, (found) =>
      !isWordAt(text, found.index - 1) && hasHeader(found[0]) ? whole(found) : undefined,
    ),
};

function hasHeader(token: string): boolean {
  const [header = '', content = ''] = token.split('.');
  if (content.length < 2) return false;
  try {
    const said: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
    return typeof said === 'object' && said !== null && 'alg' in said;
  } catch {
    return false;
  }
}
