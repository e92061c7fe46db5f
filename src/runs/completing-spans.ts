import { uuidKey } from '../worker/uuid-words.js';
import { completesSpan } from './rules/completion.js';
import type { SpanRow } from './rules/rows.js';
import type { RunState } from './run-state.js';
import type { IncomingRows } from './incoming-spans.js';

/** A span of a batch that completes a stored one. */
export interface CompletingSpan {
  /** Its row in the batch. */
  readonly at: number;
  readonly row: SpanRow;
  /** The key of its id. */
  readonly key: string;
}

/** Rows of a batch that complete stored spans of a run; if several complete the same span, the first. */
export function completingSpans(
  state: RunState,
  sent: IncomingRows,
  from: number,
  to: number,
): readonly CompletingSpan[] {
  const found = new Map<string, CompletingSpan>();
  for (let at = from; at < to; at++) {
    const key = uuidKey(sent.spanIds, at * 4);
    const known = state.find(key);
    if (known?.status !== 'running' || known.seq === 0 || found.has(key)) continue;
    const row = sent.span(at);
    if (completesSpan(known, row)) found.set(key, { at, row, key });
  }
  return [...found.values()];
}
