import type { JsonObject } from '../../signal/attributes.js';
import { originOfSent } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';
import { isObject } from './json-text.js';
import { mappedMetadata } from './mapped-metadata.js';
import { readOrigin } from './span-metadata.js';

const NONE: JsonObject = Object.freeze({});

/** The attributes of the resource that a span came under; none where it did not come by OTLP. They must not be changed. */
export function resourceOf(span: SpanRecord): JsonObject {
  const sent = originOfSent(span);
  if (sent !== undefined) return readOrigin(sent).resource;
  const resource = mappedMetadata(span)?.metadata.resource;
  return isObject(resource) ? resource : NONE;
}
