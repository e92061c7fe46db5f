import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const MIB = 1024 * 1024;

/** Memory of this process in MiB. */
export interface Memory {
  readonly heap: number;
  readonly whole: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Memory of this process in MiB after garbage collection. */
export async function heldMemory(): Promise<Memory> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed / MIB, whole: rss / MIB };
}

export function formatMemory({ heap, whole }: Memory): string {
  return `${heap.toFixed()} MiB of ${whole.toFixed()} MiB`;
}
