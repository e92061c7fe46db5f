import { uuidKey } from '../worker/uuid-words.js';
import type { IncomingSpans } from './incoming-spans.js';

/** Up to this many spans, comparing all pairs is faster than creating keys. */
const FEW_SPANS = 16;

/** Whether a run of a batch contains a span twice. The processor `validation` refuses such batches, if configured. */
export function repeatsSpans(batch: IncomingSpans, trace: number): boolean {
  const [start, end] = [batch.start(trace), batch.end(trace)];
  return end - start <= FEW_SPANS
    ? repeatsAmongFew(batch.spanIds, start, end)
    : repeatsAmongMany(batch.spanIds, start, end);
}

/** Whether parts of one run in several batches share a span. */
export function repeatAmongThem(
  parts: readonly { readonly batch: IncomingSpans; readonly trace: number }[],
): boolean {
  const keys = new Set<string>();
  let spans = 0;
  for (const { batch, trace } of parts) {
    spans += batch.end(trace) - batch.start(trace);
    for (let row = batch.start(trace); row < batch.end(trace); row++)
      keys.add(uuidKey(batch.spanIds, row * 4));
  }
  return keys.size < spans;
}

function repeatsAmongFew(words: Uint32Array, start: number, end: number): boolean {
  for (let row = start + 1; row < end; row++) {
    for (let other = start; other < row; other++) if (isSame(words, row * 4, other * 4)) return true;
  }
  return false;
}

function repeatsAmongMany(words: Uint32Array, start: number, end: number): boolean {
  const keys = new Set<string>();
  for (let row = start; row < end; row++) keys.add(uuidKey(words, row * 4));
  return keys.size < end - start;
}

function isSame(words: Uint32Array, one: number, other: number): boolean {
  return (
    words[one] === words[other] &&
    words[one + 1] === words[other + 1] &&
    words[one + 2] === words[other + 2] &&
    words[one + 3] === words[other + 3]
  );
}
