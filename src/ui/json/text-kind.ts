import { bytesOf, isBase64 } from '../messages/media.js';

/** What a string contains, as far as its display differs. */
export type TextKind =
  | { readonly kind: 'plain' | 'long' | 'json' }
  /** `isCut`: the payload was shortened, so the data is larger. */
  | { readonly kind: 'base64'; readonly type: string; readonly bytes: number; readonly isCut: boolean };

/** Shorter texts may be ids or keys. */
const SHORTEST_BASE64 = 256;
/** Longer texts get a reading view. */
const LONG = 400;
const LONG_LINES = 6;
const DATA_URL = /^data:([^;,]{0,100})(?:;[^;,]{0,100}){0,4};base64,/;

/** Classifies a string by its first characters and its form, without parsing it. */
export function textKind(text: string): TextKind {
  if (text.length >= SHORTEST_BASE64) {
    const [prefix = '', type = ''] = DATA_URL.exec(text.slice(0, 600)) ?? [];
    const isCut = text.endsWith('…');
    const data = text.slice(prefix.length, isCut ? -1 : undefined);
    if (isEncoded(data, isCut)) return { kind: 'base64', type, bytes: bytesOf(data), isCut };
  }
  if (/^\s*[{[]/.test(text) && /[}\]]\s*$/.test(text) && text.trim().length > 2) return { kind: 'json' };
  return {
    kind: text.length > LONG || text.split('\n', LONG_LINES + 1).length > LONG_LINES ? 'long' : 'plain',
  };
}

/** Words and repeated letters are base64 by their characters only. */
function isEncoded(data: string, isCut: boolean): boolean {
  const start = data.slice(0, SHORTEST_BASE64);
  const isMixed = /[A-Z]/.test(start) && /[a-z]/.test(start) && new Set(start).size > 12;
  return isMixed && isBase64(isCut ? data.slice(0, data.length - (data.length % 4)) : data);
}
