import { PlainWalk } from './plain-walk.js';

/**
 * Whether the bytes of a span can be passed on unchanged: an OTLP `Span` of known fields alone, with UTF-8 texts and without
 * attributes of Jackdaw's own. Takes some 2 µs, a tenth of decoding and encoding.
 */
export function isPlainSpan(bytes: Uint8Array): boolean {
  return new PlainWalk(bytes).isPlain('span');
}
