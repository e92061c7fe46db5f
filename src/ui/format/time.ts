/** `utc`, or the time zone of the browser. */
export const ZONES = ['local', 'utc'] as const;
export type Zone = (typeof ZONES)[number];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The parts of a time in a zone, each with leading zeros. */
interface Parts {
  readonly date: string;
  readonly clock: string;
  readonly seconds: string;
  readonly millis: string;
}

function partsOf(ms: number, zone: Zone): Parts {
  const shift = zone === 'utc' ? 0 : -new Date(ms).getTimezoneOffset() * MINUTE;
  const text = new Date(ms + shift).toISOString();
  // Years beyond 9999 have a sign and six digits.
  const at = text.indexOf('T');
  return {
    date: text.slice(0, at),
    clock: text.slice(at + 1, at + 6),
    seconds: text.slice(at + 7, at + 9),
    millis: text.slice(at + 10, at + 13),
  };
}

/** `UTC`, `UTC+2`, `UTC−3:30`: the offset at that time. */
export function zoneLabel(ms: number, zone: Zone): string {
  const offset = zone === 'utc' ? 0 : -new Date(ms).getTimezoneOffset();
  if (offset === 0) return 'UTC';
  const size = Math.abs(offset);
  const minutes = size % 60 === 0 ? '' : `:${String(size % 60).padStart(2, '0')}`;
  return `UTC${offset < 0 ? '−' : '+'}${String(Math.floor(size / 60))}${minutes}`;
}

/** `2026-11-24 14:30:43`. @param ms since the epoch */
export function formatTime(ms: number, zone: Zone): string {
  const { date, clock, seconds } = partsOf(ms, zone);
  return `${date} ${clock}:${seconds}`;
}

/** Reads `2026-11-24T14:30`, with or without seconds. @returns milliseconds; undefined for invalid text */
export function parseLocalTime(text: string, zone: Zone): number | undefined {
  const ms = Date.parse(zone === 'utc' ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** With milliseconds and zone: `2026-11-24 14:30:43.253 UTC`. */
export function formatTimeExactly(ms: number, zone: Zone): string {
  return `${formatTime(ms, zone)}.${partsOf(ms, zone).millis} ${zoneLabel(ms, zone)}`;
}

/** `14:30:43.253` */
export function formatClock(ms: number, zone: Zone): string {
  const { clock, seconds, millis } = partsOf(ms, zone);
  return `${clock}:${seconds}.${millis}`;
}

/** `in 3 min`, `just now`, `12 s ago`, `3 d ago`, in the largest whole unit. */
export function formatRelative(ms: number, now: number): string {
  const gap = Math.abs(now - ms);
  if (gap < 5000) return 'just now';
  const [size, unit] =
    gap < MINUTE
      ? [Math.floor(gap / 1000), 's']
      : gap < HOUR
        ? [Math.floor(gap / MINUTE), 'min']
        : gap < 2 * DAY
          ? [Math.floor(gap / HOUR), 'h']
          : [Math.floor(gap / DAY), 'd'];
  return ms > now ? `in ${String(size)} ${unit}` : `${String(size)} ${unit} ago`;
}
