import { isUuid } from '../../signal/ids.js';
import { foreignCursor } from './moment-cursor.js';
import { printOpaque, readOpaque } from './opaque.js';
import type { RunFilter, RunPlace } from '../../storage/contracts/runs.js';

/** A place in a list of runs as an opaque text. */
export function printPlace({ value, started_at, trace_id }: RunPlace): string {
  return printOpaque([value, started_at, trace_id]);
}

/** @throws HttpProblem 422 where the text was not given by a list of this order */
export function readPlace(text: string, { sort }: RunFilter): RunPlace {
  const parts = readOpaque(text);
  if (Array.isArray(parts) && parts.length === 3) {
    const [value, started_at, trace_id] = parts as readonly unknown[];
    const isOfSort = value === null || (typeof value === 'number' && sort !== undefined);
    if (isOfSort && Number.isSafeInteger(started_at) && typeof trace_id === 'string' && isUuid(trace_id))
      return { value: value, started_at: started_at as number, trace_id };
  }
  throw foreignCursor();
}
