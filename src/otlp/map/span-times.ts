import type { JsonObject } from '../../signal/attributes.js';
import type { Micros } from '../../signal/time.js';
import { isInFuture } from '../../signal/future.js';
import { nanosBelowMicro, nanosToMicros } from '../wire/int64.js';
import { formatNanos } from '../wire/nano-time.js';
import type { Span } from '../wire/requests.js';

export interface Times {
  readonly started: Micros;
  /** 0 if the start was replaced. */
  readonly startNanos: number;
  readonly ended: Micros | null;
  readonly endNanos: number;
  readonly durationMs: number | null;
  /** The original start and end, if replaced: `metadata.clock_skew`. */
  readonly skew: JsonObject | undefined;
}

/**
 * Start and end of a span. An end before the start is moved to the start; times too far in the future are replaced by that of arrival.
 *
 * @param receivedAt when the span arrived; without it, no time is in the future
 * @returns the error, beginning with the name of the field, if the span is rejected
 */
export function timesOf(
  span: Pick<Span, 'startTimeUnixNano' | 'endTimeUnixNano'>,
  receivedAt = Infinity,
): Times | string {
  const start = span.startTimeUnixNano ?? 0;
  const sentStart = nanosToMicros(start);
  if (sentStart === undefined)
    return 'startTimeUnixNano: must be nanoseconds since 1970, before the year 2255';
  if (sentStart <= 0) return 'startTimeUnixNano: is required';
  const end = span.endTimeUnixNano ?? 0;
  const sentEnd = nanosToMicros(end);
  if (sentEnd === undefined) return 'endTimeUnixNano: must be nanoseconds since 1970, before the year 2255';
  const isStartReplaced = isInFuture(sentStart, receivedAt);
  const started = isStartReplaced ? receivedAt : sentStart;
  const startNanos = isStartReplaced ? 0 : nanosBelowMicro(start);
  const hasEnd = sentEnd > 0;
  const ended = hasEnd ? Math.max(started, isInFuture(sentEnd, receivedAt) ? receivedAt : sentEnd) : null;
  const endNanos = hasEnd ? nanosBelowMicro(end) : 0;
  let skew: JsonObject | undefined;
  if (isStartReplaced) skew = { started_at: formatNanos(start) ?? null };
  if (ended !== null && ended !== sentEnd) skew = { ...skew, ended_at: formatNanos(end) ?? null };
  const belowMicro = skew === undefined ? endNanos - startNanos : 0;
  const durationMs = ended === null ? null : Math.max(0, (ended - started) * 1000 + belowMicro) / 1e6;
  return { started, startNanos, ended, endNanos, durationMs, skew };
}
