import type { RunFacts, StoredHeader } from './run-facts.js';
import { writeOf } from './message-order.js';

/** Whether a message of a run belongs to a write that was certainly stored before this write read the run. */
export type IsEarlier = (order: number) => boolean;

/**
 * Which messages count as earlier than those of a write. Of two concurrent writes to a run, the one with the smaller first fence is
 * earlier; the other certainly reads its messages.
 *
 * @param fence the first one of this write
 * @param firstFences of the other writes; a missing write ended long ago
 */
export function earlierThan(
  write: number,
  fence: number,
  firstFences: ReadonlyMap<number, number | null>,
): IsEarlier {
  return (order) => {
    const other = writeOf(order);
    if (other === write) return false;
    const first = firstFences.get(other);
    return first === undefined || (first !== null && first < fence);
  };
}

/**
 * The number of new items in the messages of a write: spans, and one for a new run without spans.
 *
 * @returns by the orders of the write's messages; messages without new items are left out
 */
export function newItems(facts: RunFacts, write: number, isEarlier: IsEarlier): ReadonlyMap<number, number> {
  const headers = facts.messages.filter((message): message is StoredHeader => message.kind === 'header');
  const known = new Set<string>();
  const arrived = new Map<number, string[]>();
  for (const { order, row } of facts.spans) {
    if (isEarlier(order)) known.add(row.span_id);
    else if (writeOf(order) === write) {
      const ids = arrived.get(order);
      if (ids === undefined) arrived.set(order, [row.span_id]);
      else ids.push(row.span_id);
    }
  }
  let isKnown = headers.some(({ order }) => isEarlier(order));
  const items = new Map<number, number>();
  for (const { order, spans } of headers) {
    if (writeOf(order) !== write) continue;
    const before = known.size;
    for (const id of arrived.get(order) ?? []) known.add(id);
    const added = known.size - before;
    const count = spans === 0 && !isKnown ? 1 : added;
    isKnown = true;
    if (count > 0) items.set(order, count);
  }
  return items;
}

/** The other writes that have messages of the run. */
export function otherWrites({ messages }: Pick<RunFacts, 'messages'>, write: number): number[] {
  const others = new Set<number>();
  for (const { order } of messages) if (writeOf(order) !== write) others.add(writeOf(order));
  return [...others];
}
