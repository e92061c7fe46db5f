import type { Micros } from '../../../signal/time.js';
import type { ReadCall } from './store-reads.js';

/** Reads that leave something in memory by which the same question is answered faster. */
const REPEATED: ReadonlySet<string> = new Set([
  'agents.compare',
  'agents.days',
  'logs.facets',
  'runs.follow',
  'runs.list',
  'series.read',
  'sessions.find',
]);
/** What somebody looks for that is nobody else's business: words and names of people are not written down for this. */
const PRIVATE: ReadonlySet<string> = new Set([
  'query',
  'session_id',
  'span_id',
  'tag',
  'trace_id',
  'user_id',
]);
/** Lists that people look at have no longer pages. */
const MOST_ROWS = 200;
/** The fields that are times, and how near the time of asking an end must be to move on with it. */
const STARTS = ['start_time', 'from'] as const;
const ENDS = ['end_time', 'to'] as const;
const NEAR: Micros = 86_400_000_000;
const MINUTE: Micros = 60_000_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whether a read is worth asking again after a start: one that memory helps, of the first page of a list, and without what is private.
 *
 * @param read from outside, as it may come from a file
 */
export function isRepeatable({ part, method, args }: ReadCall): boolean {
  if (!REPEATED.has(`${part}.${method}`)) return false;
  return args.every((arg) => {
    if (!isObject(arg)) return true;
    const { after = null, offset = 0, limit = 0, span = {} } = arg;
    const isFirstPage = after === null && offset === 0 && Number(limit) <= MOST_ROWS;
    return isFirstPage && isObject(span) && [...Object.keys(arg), ...Object.keys(span)].every(isPublic);
  });
}

function isPublic(field: string): boolean {
  return !PRIVATE.has(field);
}

/** What tells questions apart: the same one is asked for other times as time goes on. @param at when it was asked */
export function questionOf({ part, method, args }: ReadCall, at: Micros): string {
  const asked = args.map((arg) => withTimes(arg, at, (time) => Math.round((time - at) / MINUTE)));
  return JSON.stringify([part, method, asked]);
}

/** A read as it would be asked now: times up to about the time of asking move on, others stay. */
export function askedNow(read: ReadCall, at: Micros, now: Micros): ReadCall {
  // Days stay days.
  const step = `${read.part}.${read.method}` === 'agents.days' ? NEAR : MINUTE;
  const passed = Math.floor((now - at) / step) * step;
  return { ...read, args: read.args.map((arg) => withTimes(arg, at, (time) => time + passed)) };
}

/** Changes the times of a range that ends about now, or is open. */
function withTimes(arg: unknown, at: Micros, change: (time: Micros) => number): unknown {
  if (!isObject(arg)) return arg;
  const end = ENDS.map((field) => arg[field]).find((value): value is number => typeof value === 'number');
  if (end !== undefined && Math.abs(end - at) > NEAR) return arg;
  const times = [...STARTS, ...ENDS].flatMap((field) => {
    const value = arg[field];
    return typeof value === 'number' ? [[field, change(value)] as const] : [];
  });
  return { ...arg, ...Object.fromEntries(times) };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
