import type { JsonObject } from '../../signal/attributes.js';
import type { SpanReading } from './span-reading.js';

/** Those names of `metadata` that the mapping finds while it reads a span (`span-metadata-names.ts`). */
export function notesOf(reading: SpanReading, hasReportedCost: boolean): JsonObject {
  const notes: JsonObject = {};
  if (reading.has('session_id')) notes.session_id = reading.value('session_id');
  if (reading.has('user_id')) notes.user_id = reading.value('user_id');
  const tags = reading.value('tags');
  if (tags !== null) notes.tags = tags;
  if (reading.has('provider')) notes.provider = reading.value('provider');
  const usage = usageOf(reading);
  if (usage !== null) notes.usage = usage;
  if (hasReportedCost) notes.cost_source = 'reported';
  return notes;
}

function usageOf(reading: SpanReading): JsonObject | null {
  const cacheRead = reading.count('cache_read');
  const cacheCreation = reading.count('cache_creation');
  const reasoning = reading.count('reasoning');
  if (cacheRead === null && cacheCreation === null && reasoning === null) return null;
  const usage: JsonObject = {};
  if (cacheRead !== null) usage.cache_read = cacheRead;
  if (cacheCreation !== null) usage.cache_creation = cacheCreation;
  if (reasoning !== null) usage.reasoning = reasoning;
  return usage;
}
