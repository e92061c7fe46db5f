import type { Signal } from '../../signal/batch.js';
import { hashedUuid } from '../../signal/ids.js';
import type { Micros } from '../../signal/time.js';

/** The name of a batch as stores keep it. */
export interface BatchName {
  /** A UUID. */
  readonly batch: string;
  readonly at: Micros;
}

/** Hashes a name of any length to 128 bits. Equal names of different signals give different results. */
export function nameOfBatch(signal: Signal, id: string, at: Micros): BatchName {
  return { batch: hashedUuid(`${signal}/${id}`), at };
}
