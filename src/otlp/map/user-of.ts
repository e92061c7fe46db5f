import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { storableIdentity } from '../../signal/run-context.js';
import { SpanReading } from './span-reading.js';

/** A hash in place of a user's id. */
const HASH = /^[0-9a-f]{64}$/;

/** The user's id; the address if the id is only a hash. */
export function userOf(reading: SpanReading): JsonValue {
  const id = reading.value('user_id');
  const isNobody = id === null || (typeof id === 'string' && HASH.test(id));
  return isNobody ? (reading.value('user_email') ?? id) : id;
}

/** The user that the attributes of a log event name, as runs name it; null if none. */
export function userIn(attributes: JsonObject): string | null {
  const reading = new SpanReading();
  reading.begin();
  for (const [key, value] of Object.entries(attributes)) reading.eventAttribute(key, value);
  reading.end();
  const user = userOf(reading);
  return typeof user === 'string' ? storableIdentity(user) || null : null;
}
