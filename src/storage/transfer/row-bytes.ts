import type { ExportedRow } from '../contracts/transfer.js';

/** Approximate memory of a row in bytes. */
export function bytesOf(row: ExportedRow): number {
  let bytes = 0;
  for (const name in row) {
    const value = row[name];
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length + 16 : 16;
  }
  return bytes;
}
