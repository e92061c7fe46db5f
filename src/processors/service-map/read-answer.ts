import type { DerivedMap } from '../../signal/service-map.js';
import { LENGTHS, type MapAnswer } from './task.js';

/** @param batches number of batches in the task @returns the map of each batch */
export function readAnswer({ numbers, names }: MapAnswer, batches: number): DerivedMap[] {
  let at = batches * LENGTHS;
  let name = 0;
  // Copied, so that each part can be transferred separately.
  const next = (length: number) => numbers.slice(at, (at += length));
  return Array.from({ length: batches }, (_, batch) => {
    const [count = 0, spans = 0] = numbers.subarray(batch * LENGTHS);
    return { names: names.slice(name, (name += count)), nodes: next(spans), callers: next(spans) };
  });
}
