import assert from 'node:assert/strict';
import type { Signal } from '../signal/batch.js';
import { sampleBatch } from './samples.js';

/** What else a field may be than the type that it has in the sample. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  number: ['number', 'bigint'],
};

/**
 * Holds a record against a sample of its signal: it has every field, and none of another type.
 *
 * @throws AssertionError that names the field
 */
export function assertRecord(signal: Signal, item: unknown): void {
  const [sample] = sampleBatch(signal, 1).items as readonly object[];
  assertLike(signal, item, sample);
}

function assertLike(place: string, given: unknown, sample: unknown): void {
  assert.ok(typeof given === 'object' && given !== null, `${place} is an object`);
  for (const [key, expected] of Object.entries(sample as object)) {
    const at = `${place}.${key}`;
    assert.ok(key in given, `${at} is there, be it null`);
    const value = (given as Readonly<Record<string, unknown>>)[key];
    if (value === null || expected === null || FREE.has(key)) continue;
    if (Array.isArray(expected)) {
      assert.ok(Array.isArray(value), `${at} is a list`);
      for (const [index, one] of value.entries()) assertLike(`${at}[${index}]`, one, expected[0]);
      continue;
    }
    if (typeof expected === 'object') {
      assertLike(at, value, expected);
      continue;
    }
    const allowed = TYPES[typeof expected] ?? [typeof expected];
    assert.ok(allowed.includes(typeof value), `${at} is ${typeof value}, not ${typeof expected}`);
    if (key.endsWith('_at') || key === 'timestamp')
      assert.ok(Number.isSafeInteger(value), `${at} is a time in whole microseconds`);
  }
}

/** Fields that hold JSON of any shape. */
const FREE: ReadonlySet<string> = new Set([
  'body',
  'metadata',
  'input_data',
  'output_data',
  'attributes',
  'resource',
  'labels',
]);
