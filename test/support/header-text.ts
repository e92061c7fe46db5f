import assert from 'node:assert/strict';
import type { Item } from './trace-batch.js';

/** A text field of the header of an item. */
export function headerText({ trace }: Item, field: string): string {
  const value = trace[field];
  assert(typeof value === 'string', `${field} is no text`);
  return value;
}

export function traceIdOf(item: Item): string {
  return headerText(item, 'trace_id');
}
