import { parseTime, type Micros } from '../../signal/time.js';
import type { Times } from './span-times.js';
import type { SpanReading } from './span-reading.js';

/** The event by which a client reports the first chunk. */
export interface ChunkEvent {
  readonly name: string;
  readonly at: Micros;
}

/** Milliseconds from the start of a call to the first chunk of its answer; null if unknown. */
export function timeToFirstChunk(
  reading: SpanReading,
  times: Times,
  event: ChunkEvent | undefined,
): number | null {
  const told = reading.count('first_chunk');
  if (told !== null) return rounded(told);
  const because = (ground: 'first_chunk_at' | 'first_token' | `${string} ${string}`, ms: number | null) => {
    if (ms !== null) reading.provenance?.decided('time_to_first_chunk_ms', ground);
    return ms === null ? null : rounded(ms);
  };
  const at = reading.text('first_chunk_at');
  const since = at === null ? null : elapsed(times, parseTime(at));
  if (since !== null) return because('first_chunk_at', since);
  const token = reading.count('first_token');
  if (token !== null) return because('first_token', ofUnknownUnit(token, times.durationMs));
  return event === undefined ? null : because(`${event.name} (event)`, elapsed(times, event.at));
}

function elapsed({ started, skew }: Times, at: Micros | undefined): number | null {
  return at === undefined || at < started || skew !== undefined ? null : (at - started) / 1000;
}

/**
 * Clients send seconds, milliseconds or nanoseconds under the same name. Whole numbers are no seconds, and no chunk comes after the
 * end.
 */
function ofUnknownUnit(value: number, durationMs: number | null): number | null {
  const units = Number.isInteger(value) ? [1, 1e-6] : [1000, 1];
  return units.map((unit) => value * unit).find((ms) => durationMs === null || ms <= durationMs) ?? null;
}

/** To microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
