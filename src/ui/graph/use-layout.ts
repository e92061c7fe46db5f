import { useEffect, useEffectEvent, useState } from 'react';
import type { LinkedNodes, Place, Shape } from './layout.js';
import type { LayoutAnswer, LayoutTask } from './layout-worker.js';

/** A picture, and where its nodes lie. */
interface LaidOut<Shown> {
  readonly shown: Shown;
  readonly places: ReadonlyMap<string, Place>;
}

/**
 * Lays a graph out beside the page, again only when other nodes or edges are in it. Until that is done the picture before stands.
 *
 * @param linksOf what counts for the places
 * @returns undefined until there is the first one; null where it cannot be done
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
  // The figures in it may have changed.
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
