import type { PromptReference } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';

/** The prompt versions that the spans of a batch name. */
export interface NamedPrompts {
  readonly references: readonly PromptReference[];
  /** For each span of the batch, the position of its prompt version among the references; -1 for none. */
  readonly spans: Int32Array<ArrayBuffer>;
}

/** The same, as sent to the store thread. */
export interface PromptMessage {
  /** The numbers of the references; null for a version that the user does not have. */
  readonly numbers: readonly (number | null)[];
  readonly spans: Int32Array<ArrayBuffer>;
}

/** Null if no span names a prompt, which is the usual case. */
export function namedPrompts(items: readonly TraceRecord[]): NamedPrompts | null {
  let spanCount = 0;
  let namesPrompts = false;
  for (const { spans } of items) {
    spanCount += spans.length;
    for (const span of spans) namesPrompts ||= span.prompt !== null;
  }
  if (!namesPrompts) return null;
  const positions = new Map<string, number>();
  const references: PromptReference[] = [];
  const spans = new Int32Array(spanCount);
  let row = 0;
  for (const item of items) {
    for (const { prompt } of item.spans) {
      spans[row++] = prompt === null ? -1 : positionOf(prompt, positions, references);
    }
  }
  return { references, spans };
}

function positionOf(
  prompt: PromptReference,
  positions: Map<string, number>,
  references: PromptReference[],
): number {
  const key = `${prompt.version} ${prompt.name}`;
  const known = positions.get(key);
  if (known !== undefined) return known;
  positions.set(key, references.length);
  return references.push({ name: prompt.name, version: prompt.version }) - 1;
}
