import type { JsonObject } from '../../signal/attributes.js';
import type { SpanReading } from './span-reading.js';

/** The names in `metadata` that come from the reading of a span (`span-metadata-names.ts`). */
export function notesOf(reading: SpanReading): JsonObject {
  const notes: JsonObject = {};
  if (reading.has('session_id')) notes.session_id = reading.value('session_id');
  if (reading.has('user_id')) notes.user_id = reading.value('user_id');
  const tags = reading.value('tags');
  if (tags !== null) notes.tags = tags;
  if (reading.has('provider')) notes.provider = reading.value('provider');
  return notes;
}
