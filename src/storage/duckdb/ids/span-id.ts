/**
 * One id for a span and its trace, of which the span's id tells nothing by itself. Ids that somebody chose to come out alike
 * are told apart by the tables, like any two that do.
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
    // Turned, because OTLP ids of spans have a part of the trace's in them.
    const word = traceWords[traceAt + i] ?? 0;
    found[i] = (((word << 7) | (word >>> 25)) ^ (spanWords[spanAt + i] ?? 0)) >>> 0;
  }
}
