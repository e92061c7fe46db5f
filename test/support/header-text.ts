import assert from 'node:assert/strict';
import type { Item } from './trace-batch.js';

/** A field of an item's header that the test knows to be text. */
export function headerText({ trace }: Item, field: string): string {
  const value = trace[field];
  assert(typeof value === 'string', `${field} is no text`);
  return value;
}

export function traceIdOf(item: Item): string {
  return headerText(item, 'trace_id');
}
