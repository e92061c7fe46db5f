import { Type, type TSchema } from 'typebox';
import type { JsonObject } from '../../signal/attributes.js';
import { formatTime, type Micros } from '../../signal/time.js';

/** Schemas of values in API bodies, and their serialization. */

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export function uuid(description?: string) {
  return Type.String({ format: 'uuid', ...(description === undefined ? {} : { description }) });
}

/** ISO 8601; in responses UTC with `Z`. */
export function time(description?: string) {
  return Type.String({ format: 'date-time', ...(description === undefined ? {} : { description }) });
}

export function count(description?: string) {
  return Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });
}

/** US dollars as a JSON number. */
export function usd(description = 'US dollars') {
  return Type.Number({ description });
}

export function jsonObject(description?: string) {
  return Type.Unsafe<JsonObject>({ type: 'object', ...(description === undefined ? {} : { description }) });
}

export function formatNullableTime(micros: Micros | null): string | null {
  return micros === null ? null : formatTime(micros);
}
