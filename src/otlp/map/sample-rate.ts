import { sentOf } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';
import { LenientReader } from '../wire/lenient-reader.js';

/** Tag of `Span.trace_state`, a length-delimited field. */
const TRACE_STATE = (3 << 3) | 2;
/** The digits of a threshold: 56 bits. */
const DIGITS = 14;
/** `ot=` of a trace state, and its rejection threshold, without trailing zeros. */
const OTEL = /(?:^|,)[ \t]*ot=([^,]*)/;
const THRESHOLD = /(?:^|;)th:([\da-f]{1,14})(?:;|$)/;

/**
 * The share of runs that the client kept: the threshold of OpenTelemetry's consistent probability sampling in the span's trace state
 * (https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/).
 *
 * @param span the one that carries the run's sampling
 * @returns above 0; null if the client does not send it
 */
export function sampleRateOf(span: SpanRecord | undefined): number | null {
  const sent = span && sentOf(span);
  return sent === undefined ? null : sampleRateIn(traceStateOf(sent.bytes));
}

/** The same for a trace state, such as `ot=th:c,vendor=1`. */
export function sampleRateIn(traceState: string): number | null {
  const digits = THRESHOLD.exec(OTEL.exec(traceState)?.[1] ?? '')?.[1];
  if (digits === undefined) return null;
  // Even the greatest threshold keeps one run in 2 ** 56.
  return 1 - parseInt(digits.padEnd(DIGITS, '0'), 16) / 2 ** 56 || 2 ** -56;
}

/** The trace state of a valid `Span` in protobuf; skips all other fields. */
function traceStateOf(bytes: Uint8Array): string {
  const reader = new LenientReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  let found = '';
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === TRACE_STATE) found = reader.string();
    else reader.skipType(tag & 7);
  }
  return found;
}
