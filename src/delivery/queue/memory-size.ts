import type { AnyBatch } from '../../signal/raw-batch.js';
import { isUnseen, sentOf } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';

/** Approximate sizes in V8; exact figures differ between versions. */
const OBJECT_BYTES = 32;
const SLOT_BYTES = 8;
const TEXT_BYTES = 24;

/** Size of a span received by OTLP whose metadata was not read yet; undefined for everything else. */
function rawBytes(value: object): number | undefined {
  return isUnseen(value as SpanRecord) ? sentOf(value as SpanRecord)?.bytes.length : undefined;
}

/**
 * Roughly how much memory plain data takes, in bytes. Texts in other scripts than Latin take up to twice as much. Not recursive,
 * because a payload may nest to any depth.
 */
export function approximateBytes(value: unknown): number {
  let bytes = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    bytes += SLOT_BYTES;
    if (typeof next === 'string') bytes += TEXT_BYTES + next.length;
    else if (ArrayBuffer.isView(next)) bytes += OBJECT_BYTES + next.byteLength;
    else if (typeof next === 'object' && next !== null) {
      bytes += OBJECT_BYTES;
      const raw = rawBytes(next);
      bytes += raw ?? 0;
      if (Array.isArray(next)) for (const child of next) waiting.push(child);
      // The metadata are not made yet, and must not be made to be measured: the bytes that they follow from count.
      else if (raw !== undefined) {
        for (const key of Object.keys(next))
          if (key !== 'metadata') waiting.push(next[key as keyof typeof next]);
      } else for (const key in next) waiting.push(next[key as keyof typeof next]);
    }
  }
  return bytes;
}

/** Roughly how much memory a batch takes. */
export function batchBytes(batch: AnyBatch): number {
  if (batch.kind === 'raw') return batch.request.bytes.length;
  return itemBytes(batch.items).reduce((sum, size) => sum + size, 0);
}

/**
 * Approximate memory of each item of a batch. Objects shared with the previous item (a metric's stream, the origin of records) count
 * once.
 */
export function itemBytes(items: readonly unknown[]): readonly number[] {
  let before: object = {};
  return items.map((item) => {
    if (typeof item !== 'object' || item === null) return approximateBytes(item);
    let bytes = OBJECT_BYTES;
    for (const key in item) {
      const value: unknown = item[key as keyof typeof item];
      const isShared = typeof value === 'object' && value === before[key as keyof typeof before];
      bytes += isShared ? SLOT_BYTES : approximateBytes(value);
    }
    before = item;
    return bytes;
  });
}
