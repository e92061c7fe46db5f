import { PlainWalk } from './plain-walk.js';

/**
 * Whether the bytes of a span can be forwarded unchanged: an OTLP `Span` with known fields only, UTF-8 texts, and no attributes
 * of Jackdaw's own. Takes some 2 µs, a tenth of decoding and encoding.
 */
export function isPlainSpan(bytes: Uint8Array): boolean {
  return new PlainWalk(bytes).isPlain('span');
}
