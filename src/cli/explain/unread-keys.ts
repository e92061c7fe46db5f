import { isReadKey } from '../../otlp/map/attribute-shapes.js';
import { RESERVED } from '../../otlp/map/span-metadata-names.js';
import type { JsonObject } from '../../signal/attributes.js';

const NO_ATTRIBUTES: ReadonlySet<string> = new Set(RESERVED);

/** The keys of a span's attributes that no convention knows, in the order of the alphabet. @param metadata of the span */
export function unreadKeys(metadata: JsonObject): string[] {
  return Object.keys(metadata)
    .filter((key) => !NO_ATTRIBUTES.has(key) && !isReadKey(key))
    .sort();
}
