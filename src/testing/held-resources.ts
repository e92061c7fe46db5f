import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { becomesTrue, type Waiting } from './patience.js';

/** Resources that keep the process alive: sockets, servers, timers, threads, by kind. Resources already closing are excluded. */
export function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (!TRANSIENT.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** They end by themselves; the first is what waiting here takes. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'Immediate',
  'CloseReq',
  'FSReqCallback',
  'FSReqPromise',
  'GetAddrInfoReqWrap',
  'TickObject',
  'WriteWrap',
  'ShutdownWrap',
]);

/**
 * Waits until all newly opened resources are closed, since closing takes moments.
 *
 * @throws AssertionError that names the remaining resources
 */
export async function assertReleased(waiting: Waiting, before: ReadonlyMap<string, number>): Promise<void> {
  const left = (): string[] =>
    [...openResources()].flatMap(([kind, count]) => {
      const more = count - (before.get(kind) ?? 0) - (kind === 'Timeout' ? 1 : 0);
      return more > 0 ? [`${more} × ${kind}`] : [];
    });
  try {
    await becomesTrue(waiting, 'it did not let go', () => left().length === 0);
  } catch {
    throw new Error(`it left open: ${left().join(', ')}`);
  }
}

let collect: (() => void) | undefined;

/** Heap size after garbage collection, in bytes. */
export async function heldBytes(): Promise<number> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  // The second time without what finalizers of the first released.
  for (let i = 0; i < 2; i++) {
    collect();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().heapUsed;
}
