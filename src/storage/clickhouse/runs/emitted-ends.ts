import { fold, type Run } from '../../../runs/fold.js';
import { writeOf } from './message-order.js';
import type { IsEarlier } from './new-items.js';
import { foldedMessages, type RunFacts } from './run-facts.js';

/**
 * Whether the end of a run, or another state, was certainly emitted: certainly earlier messages led to it, and no concurrent write
 * changes it. A concurrent writer may have read the run while it was running, so both emit the event and the log
 * deduplicates. An end whose writes were deleted from the write-intent log was emitted long ago and is not emitted again.
 *
 * @param isIt whether a run is in that state
 */
export function isEmitted(
  facts: RunFacts,
  isIt: (run: Run) => boolean,
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
  if (!was(isIt, facts, isEarlier)) return false;
  const isOther = (order: number): boolean => writeOf(order) !== write;
  const isAtIt = facts.messages.some(({ order }) => isOther(order) && !isEarlier(order));
  return !isAtIt || was(isIt, facts, (order) => isOther(order) && !firstFences.has(writeOf(order)));
}

/** Whether a run was in a state with some of its messages. */
function was(
  isIt: (run: Run) => boolean,
  { messages, spans }: RunFacts,
  isOfThem: (order: number) => boolean,
): boolean {
  const before = messages.filter(({ order }) => isOfThem(order));
  if (before.length === 0) return false;
  const run = fold(
    foldedMessages(before),
    spans.filter(({ order }) => isOfThem(order)),
  );
  return run !== null && isIt(run);
}
