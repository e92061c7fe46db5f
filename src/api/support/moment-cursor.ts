import { validationProblem } from '../../http/field-errors.js';
import { isUuid } from '../../signal/ids.js';
import type { Micros } from '../../signal/time.js';
import { encodeOpaque, readOpaque } from './opaque.js';

/** A position in a list that is ordered by a time, then by id. */
export interface MomentCursor {
  readonly at: Micros;
  readonly id: string;
}

/** Encodes a position as opaque text. */
export function encodeMomentCursor({ at, id }: MomentCursor): string {
  return encodeOpaque([at, id]);
}

/** @throws HttpProblem 422 if the text is not such a cursor */
export function decodeMomentCursor(text: string): MomentCursor {
  const parts = readOpaque(text);
  if (Array.isArray(parts) && parts.length === 2) {
    const [at, id] = parts as readonly unknown[];
    if (Number.isSafeInteger(at) && typeof id === 'string' && isUuid(id)) return { at: at as number, id };
  }
  throw foreignCursor();
}

/** The error for a cursor of another list. */
export function foreignCursor(): Error {
  return validationProblem('query', [
    { field: 'cursor', message: 'must be the next_cursor of a response to the same list' },
  ]);
}
