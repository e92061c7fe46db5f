import { wordAt } from '../../../signal/checked.js';

/**
 * One id for a span and its trace, because a span's own id does not say which trace it belongs to. Ids that somebody chose to
 * come out alike are told apart by the tables, like any two that do.
 *
 * @param found gets the four words
 */
export function idInTrace(
  traceWords: Uint32Array,
  traceAt: number,
  spanWords: Uint32Array,
  spanAt: number,
  found: Uint32Array,
): void {
  for (let i = 0; i < 4; i++) {
    // Rotated, because OTLP ids of spans contain a part of the trace's.
    const word = wordAt(traceWords, traceAt + i);
    found[i] = (((word << 7) | (word >>> 25)) ^ wordAt(spanWords, spanAt + i)) >>> 0;
  }
}
