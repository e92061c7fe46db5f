import type { BatchMap } from '../../signal/service-map.js';
import { ColumnsReader } from '../../worker/columns-reader.js';
import { LENGTHS, TEXT_COLUMNS, type MapAnswer } from './task.js';

/**
 * @param spanIds of each batch of the task
 * @returns the map of each
 */
export function readAnswer(
  { numbers, names }: MapAnswer,
  spanIds: readonly BatchMap['spanIds'][],
): BatchMap[] {
  const texts = new ColumnsReader(TEXT_COLUMNS, names);
  let at = spanIds.length * LENGTHS;
  let name = 0;
  // A copy, so that each may be handed on by itself.
  const next = (length: number) => numbers.slice(at, (at += length));
  return spanIds.map((ids, batch) => {
    const [count = 0, nodes = 0, nodeSums = 0, edgeSums = 0] = numbers.subarray(batch * LENGTHS);
    return {
      spanIds: ids,
      names: Array.from({ length: count }, () => texts.textBytes(0, name++).toString('utf8')),
      nodes: next(nodes),
      nodeSums: next(nodeSums),
      edgeSums: next(edgeSums),
    };
  });
}
