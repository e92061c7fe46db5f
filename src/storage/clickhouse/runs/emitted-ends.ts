import { fold } from '../../../runs/fold.js';
import { writeOf } from './message-order.js';
import type { IsEarlier } from './new-items.js';
import { foldedMessages, type RunFacts } from './run-facts.js';

/**
 * Whether the end of a run was certainly emitted: the run ended with certainly earlier messages, and no concurrent write changes it. A
 * concurrent writer may have read the run while it was running, so both emit the end and the log deduplicates. An end whose writes were
 * deleted from the write-intent log was emitted long ago and is not emitted again.
 */
export function isEndEmitted(
  facts: RunFacts,
  {
    write,
    isEarlier,
    firstFences,
  }: {
    readonly write: number;
    readonly isEarlier: IsEarlier;
    readonly firstFences: ReadonlyMap<number, number | null>;
  },
): boolean {
  if (!hadEnded(facts, isEarlier)) return false;
  const isOther = (order: number): boolean => writeOf(order) !== write;
  const isAtIt = facts.messages.some(({ order }) => isOther(order) && !isEarlier(order));
  return !isAtIt || hadEnded(facts, (order) => isOther(order) && !firstFences.has(writeOf(order)));
}

/** Whether a run had ended with some of its messages. */
function hadEnded({ messages, spans }: RunFacts, isOfThem: (order: number) => boolean): boolean {
  const before = messages.filter(({ order }) => isOfThem(order));
  if (before.length === 0) return false;
  return (
    fold(
      foldedMessages(before),
      spans.filter(({ order }) => isOfThem(order)),
    )?.hasEnded === true
  );
}
