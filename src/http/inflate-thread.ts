import { handOver } from '../worker/pool.js';
import { inflateSnappy } from './snappy.js';
import { inflateZstd } from './zstd.js';

export interface InflateTask {
  readonly coding: 'zstd' | 'snappy';
  readonly bytes: Uint8Array;
  /** Maximum size of the output. */
  readonly most: number;
}

/**
 * Decompresses a body in a thread.
 *
 * @returns the bytes, or the reason why the data is invalid
 */
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
