import { fold } from '../../../runs/fold.js';
import { writeOf } from './message-order.js';
import type { IsEarlier } from './new-items.js';
import { foldedMessages, type RunFacts } from './run-facts.js';

/**
 * Whether somebody has certainly told that a run ended: it had, with the messages that are certainly earlier, and nobody else is at it. Who
 * is may have looked when it went on, by what another one brought: so whoever sees it end tells it, as the log has each fact once. What
 * had ended with writes that the book has forgotten was told long ago, when the log may have forgotten it, too.
 */
export function isEndTold(
  facts: RunFacts,
  {
    write,
    isEarlier,
    firstTickets,
  }: {
    readonly write: number;
    readonly isEarlier: IsEarlier;
    readonly firstTickets: ReadonlyMap<number, number | null>;
  },
): boolean {
  if (!hadEnded(facts, isEarlier)) return false;
  const isOther = (order: number): boolean => writeOf(order) !== write;
  const isAtIt = facts.messages.some(({ order }) => isOther(order) && !isEarlier(order));
  return !isAtIt || hadEnded(facts, (order) => isOther(order) && !firstTickets.has(writeOf(order)));
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
