import type { GivenPayload } from '../../runs/rules/payload.js';
import type { JsonObject } from '../../signal/attributes.js';
import { printJson } from '../../signal/json.js';
import { sentOf } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';

/** Types of spans that make no node. */
const NODELESS: ReadonlySet<string> = new Set(['llm', 'tool']);

/** What is kept of the notes beside what was sent: all else that they say follows from that. */
const KEPT_NOTES = ['usage', 'cost_source', 'provider'] as const;

/** What is kept of a span beside its columns. */
export function givenPayload(span: SpanRecord): GivenPayload {
  // A node follows from `metadata` where no mapping has said it.
  const sent = span.map_hint === null && !NODELESS.has(span.type) ? undefined : sentOf(span);
  return {
    input: jsonOf(span.input_data),
    output: jsonOf(span.output_data),
    metadata: jsonOf(sent === undefined ? span.metadata : keptNotes(sent.notes)),
    sent: sent?.bytes ?? null,
    origin: sent?.origin.bytes ?? null,
  };
}

function keptNotes(notes: JsonObject): JsonObject | null {
  let kept: JsonObject | null = null;
  for (const name of KEPT_NOTES) {
    const value = notes[name];
    if (value !== undefined) (kept ??= {})[name] = value;
  }
  return kept;
}

function jsonOf(value: JsonObject | null): string | null {
  return value === null ? null : printJson(value);
}
