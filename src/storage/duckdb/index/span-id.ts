import { wordAt } from '../../../signal/checked.js';

/**
 * One id for a span and its trace, because a span's own id does not identify its trace. Ids that collide, even on purpose, are
 * distinguished by the tables.
 *
 * @param found receives the four words
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
