import type { Worker } from 'node:worker_threads';
import type { Test } from 'tap';

/** Threads started from now on, until the test ends. */
export function watchWorkers(t: Pick<Test, 'teardown'>): readonly Worker[] {
  const workers: Worker[] = [];
  const note = (worker: Worker): void => void workers.push(worker);
  process.on('worker', note);
  t.teardown(() => process.off('worker', note));
  return workers;
}
