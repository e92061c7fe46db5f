import { handOver } from '../worker/pool.js';
import { inflateSnappy } from './snappy.js';
import { inflateZstd } from './zstd.js';

export interface InflateTask {
  readonly coding: 'zstd' | 'snappy';
  readonly bytes: Uint8Array;
  /** The bytes that it may become. */
  readonly most: number;
}

/** Inflates a body in a thread. Gives the bytes, or the reason why the data is broken. */
export default async function inflate({ coding, bytes, most }: InflateTask): Promise<unknown> {
  let inflated: Uint8Array<ArrayBuffer>;
  try {
    // Copied, because memory allocated by native code cannot be transferred.
    inflated =
      coding === 'zstd' ? await inflateZstd(bytes, most) : new Uint8Array(inflateSnappy(bytes, most));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return handOver(inflated, [inflated.buffer]);
}
