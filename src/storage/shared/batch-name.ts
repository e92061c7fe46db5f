import { createHash } from 'node:crypto';
import type { Signal } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';

/** The name of a batch as stores keep it. */
export interface BatchName {
  /** A UUID. */
  readonly batch: string;
  readonly at: Micros;
}

const UUID_HEX = 32;

/** Hashes a name of any length to 128 bits. Equal names of different signals give different results. */
export function nameOfBatch(signal: Signal, id: string, at: Micros): BatchName {
  const hex = createHash('sha256').update(`${signal}/${id}`).digest('hex').slice(0, UUID_HEX);
  return { batch: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), at };
}
