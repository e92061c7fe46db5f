import type { StoredTrace } from '../storage/telemetry-store.js';
import { printRunFields } from './runs.js';

/** A trace up to this size is answered in one piece: cheaper, and a failure of the store is still a proper error. */
const MAX_WHOLE_BYTES = 1024 * 1024;
const END = Buffer.from(']}');

/**
 * A trace as the API shows it. The spans pass through as the store wrote them: ten thousand of them are never one
 * string or one object here.
 *
 * @returns all of it where it is small, otherwise its pieces, which are read as the client takes them.
 * @throws ConsumeError what the store throws while the first part is read.
 */
export async function printTrace(trace: StoredTrace): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const header = JSON.stringify({ ...printRunFields(trace), metadata: trace.metadata });
  const first: Uint8Array[] = [Buffer.from(`${header.slice(0, -1)},"spans":[`)];
  const spans = trace.spans[Symbol.asyncIterator]();
  for (let bytes = 0; bytes < MAX_WHOLE_BYTES;) {
    const next = await spans.next();
    if (next.done === true) return Buffer.concat([...first, END]);
    first.push(next.value);
    bytes += next.value.length;
  }
  return pieces(Buffer.concat(first), spans);
}

/** By hand, because a generator that is ended before its first piece would not end the spans. */
function pieces(first: Uint8Array, spans: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let part: 'first' | 'spans' | 'over' = 'first';
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    if (part === 'over') return { done: true, value: undefined };
    if (part === 'first') {
      part = 'spans';
      return { value: first };
    }
    const span = await spans.next();
    if (span.done !== true) return span;
    part = 'over';
    return { value: END };
  };
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    part = 'over';
    await spans.return?.();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}
