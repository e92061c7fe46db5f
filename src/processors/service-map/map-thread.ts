import { handOver } from '../../worker/pool.js';
import { deriveTask } from './derive-task.js';
import type { MapTask } from './task.js';

/** Runs in the threads of the pool. */
export default function derive(task: MapTask): unknown {
  const answer = deriveTask(task);
  return handOver(answer, [answer.numbers.buffer]);
}
