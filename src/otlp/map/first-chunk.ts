import { parseTime, type Micros } from '../../signal/time.js';
import type { Times } from './span-times.js';
import type { SpanReading } from './span-reading.js';

/** The event by which a client reports the first chunk. */
export interface ChunkEvent {
  readonly name: string;
  readonly at: Micros;
}

const NAMES = ['first_chunk', 'first_chunk_at', 'first_token'] as const;

/** Milliseconds from the start of a call to the first chunk of its answer; null if unknown. */
export function timeToFirstChunk(
  reading: SpanReading,
  times: Times,
  event: ChunkEvent | undefined,
): number | null {
  const isKnown = reading.has('first_chunk') || reading.has('first_chunk_at') || reading.has('first_token');
  if (!isKnown && event === undefined) return null;
  for (const name of NAMES) {
    if (!reading.has(name)) continue;
    const found = fromAttribute(name, reading, times);
    if (found === null) continue;
    reading.provenance?.decided('time_to_first_chunk_ms', name);
    return rounded(found);
  }
  const since = event === undefined ? null : elapsed(times, event.at);
  if (event === undefined || since === null) return null;
  reading.provenance?.decided('time_to_first_chunk_ms', `${event.name} (event)`);
  return rounded(since);
}

function fromAttribute(name: (typeof NAMES)[number], reading: SpanReading, times: Times): number | null {
  if (name === 'first_chunk_at') return elapsed(times, parseTime(reading.text(name) ?? ''));
  const value = reading.count(name);
  return value === null || name === 'first_chunk' ? value : ofUnknownUnit(value, times.durationMs);
}

function elapsed({ started, skew }: Times, at: Micros | undefined): number | null {
  return at === undefined || at < started || skew !== undefined ? null : (at - started) / 1000;
}

/**
 * Clients send seconds, milliseconds or nanoseconds under the same name. Whole numbers are not seconds, and the result is within the
 * duration.
 */
function ofUnknownUnit(value: number, durationMs: number | null): number | null {
  const units = Number.isInteger(value) ? [1, 1e-6] : [1000, 1];
  return units.map((unit) => value * unit).find((ms) => durationMs === null || ms <= durationMs) ?? null;
}

/** To microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
