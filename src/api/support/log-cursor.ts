import { validationProblem } from '../../http/field-errors.js';
import { isUuid } from '../../signal/ids.js';
import type { LogPlace } from '../../storage/logs.js';
import { printOpaque, readOpaque } from './opaque.js';

/** A place in a list of log records as an opaque text. */
export function printLogPlace({ timestamp, id }: LogPlace): string {
  return printOpaque([timestamp, id]);
}

/** @throws HttpProblem 422 where the text was not given by a search */
export function readLogPlace(text: string): LogPlace {
  const parts = readOpaque(text);
  if (Array.isArray(parts) && parts.length === 2) {
    const [timestamp, id] = parts as readonly unknown[];
    if (Number.isSafeInteger(timestamp) && typeof id === 'string' && isUuid(id))
      return { timestamp: timestamp as number, id };
  }
  throw validationProblem('query', [
    { field: 'cursor', message: 'must be the next_cursor of an answer to the same search' },
  ]);
}
