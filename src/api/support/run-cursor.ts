import { isUuid } from '../../signal/ids.js';
import { foreignCursor } from './moment-cursor.js';
import { encodeOpaque, readOpaque } from './opaque.js';
import type { RunFilter, RunCursor } from '../../storage/contracts/runs.js';

/** Encodes a position in a list of runs as opaque text. */
export function encodeCursor({ value, started_at, trace_id }: RunCursor): string {
  return encodeOpaque([value, started_at, trace_id]);
}

/** @throws HttpProblem 422 if the text is not a cursor of a list in this order */
export function decodeCursor(text: string, { sort }: RunFilter): RunCursor {
  const parts = readOpaque(text);
  if (Array.isArray(parts) && parts.length === 3) {
    const [value, started_at, trace_id] = parts as readonly unknown[];
    const isOfSort = value === null || (typeof value === 'number' && sort !== undefined);
    if (isOfSort && Number.isSafeInteger(started_at) && typeof trace_id === 'string' && isUuid(trace_id))
      return { value: value, started_at: started_at as number, trace_id };
  }
  throw foreignCursor();
}
