import type { JsonObject, ReadAttributes } from '../../signal/attributes.js';
import { parseJson, serializeJson } from '../../signal/json.js';
import { toJsonObject } from './any-value.js';
import { attributesInMetadata, resourceInMetadata } from './resource-of.js';
import { readSentOrigin, sentAttributes } from './span-metadata.js';

/**
 * Reads the attributes of stored spans: those of the span as it was sent, and those of its resource that it does not have itself; of a
 * span that was not received by OTLP, its `metadata`.
 */
export function attributeReader(): ReadAttributes {
  // Spans of a batch share their origin.
  let last: { readonly origin: Uint8Array; readonly resource: JsonObject } | undefined;
  const resourceOf = (origin: Uint8Array): JsonObject => {
    if (last === undefined || Buffer.compare(last.origin, origin) !== 0)
      last = { origin, resource: toJsonObject(readSentOrigin(origin).resource?.attributes) };
    return last.resource;
  };
  return ({ trace_id, metadata, sent, origin }) => {
    if (sent !== null)
      return attributeTexts(sentAttributes(sent), () => (origin === null ? {} : resourceOf(origin)));
    const span = { trace_id, metadata: metadata === null ? null : objectOf(metadata) };
    return attributeTexts(attributesInMetadata(span), () => resourceInMetadata(span));
  };
}

function attributeTexts(own: JsonObject, resource: () => JsonObject): ReturnType<ReadAttributes> {
  const text = (key: string): string | null => textIn(own, key) ?? textIn(resource(), key);
  return {
    keys: () =>
      [...new Set([...Object.keys(own), ...Object.keys(resource())])].filter((key) => text(key) !== null),
    text,
  };
}

function textIn(object: JsonObject, key: string): string | null {
  const value = Object.hasOwn(object, key) ? (object[key] ?? null) : null;
  return value === null || typeof value === 'string' ? value : serializeJson(value);
}

function objectOf(json: Uint8Array): JsonObject {
  return parseJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8')) as JsonObject;
}
