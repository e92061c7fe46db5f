import { useEffect, useEffectEvent, useState } from 'react';
import type { LinkedNodes, Place, Shape } from './layout.js';
import type { LayoutAnswer, LayoutTask } from './layout-worker.js';

/** Data with its node positions. */
interface LaidOut<Shown> {
  readonly shown: Shown;
  readonly places: ReadonlyMap<string, Place>;
}

/**
 * Lays a graph out in a worker, again only if its nodes or edges change; until then the previous layout
 * stays.
 *
 * @param linksOf extracts the graph
 * @returns undefined until the first layout is ready; null if it failed
 */
export function useLayout<Shown>(
  shown: Shown,
  linksOf: (shown: Shown) => LinkedNodes,
  aspect: number,
  shape: Shape,
): LaidOut<Shown> | undefined | null {
  const [done, setDone] = useState<LaidOut<Shown> & { readonly task: string }>();
  const [failed, setFailed] = useState<string>();
  const task = JSON.stringify({ graph: linksOf(shown), aspect, shape } satisfies LayoutTask);
  // The values may have changed without a new layout.
  if (done?.task === task && done.shown !== shown) setDone({ ...done, shown });
  const isDone = done?.task === task;
  const finish = useEffectEvent((of: string, places: LayoutAnswer) => {
    if (of === task) setDone({ shown, places, task });
  });
  useEffect(() => {
    if (isDone) return;
    const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<LayoutAnswer>) => {
      finish(task, data);
      worker.terminate();
    });
    worker.addEventListener('error', () => {
      setFailed(task);
      worker.terminate();
    });
    worker.postMessage(JSON.parse(task));
    return () => {
      worker.terminate();
    };
  }, [task, isDone]);
  return failed === task ? null : done;
}
