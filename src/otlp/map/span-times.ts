import type { Micros } from '../../signal/time.js';
import { nanosBelowMicro, nanosToMicros } from '../wire/int64.js';
import { formatNanos } from '../wire/nano-time.js';
import type { Span } from '../wire/requests.js';

export interface Times {
  readonly started: Micros;
  readonly startNanos: number;
  readonly ended: Micros | null;
  readonly endNanos: number;
  readonly durationMs: number | null;
  /** The end as it was sent, if it was before the start. */
  readonly skewedEnd: string | undefined;
}

/** @returns the error, beginning with the name of the field, if the span is rejected */
export function timesOf(span: Pick<Span, 'startTimeUnixNano' | 'endTimeUnixNano'>): Times | string {
  const start = span.startTimeUnixNano ?? 0;
  const started = nanosToMicros(start);
  if (started === undefined) return 'startTimeUnixNano: must be nanoseconds since 1970, before the year 2255';
  if (started <= 0) return 'startTimeUnixNano: is required';
  const end = span.endTimeUnixNano ?? 0;
  const ended = nanosToMicros(end);
  if (ended === undefined) return 'endTimeUnixNano: must be nanoseconds since 1970, before the year 2255';
  const startNanos = nanosBelowMicro(start);
  if (ended <= 0)
    return { started, startNanos, ended: null, endNanos: 0, durationMs: null, skewedEnd: undefined };
  const endNanos = nanosBelowMicro(end);
  if (ended < started)
    return { started, startNanos, ended: started, endNanos, durationMs: 0, skewedEnd: formatNanos(end) };
  const durationMs = Math.max(0, (ended - started) * 1000 + endNanos - startNanos) / 1e6;
  return { started, startNanos, ended, endNanos, durationMs, skewedEnd: undefined };
}
