interface Identified {
  readonly id: string;
}

/** What has come since one began to follow. */
export interface Tail<Item> {
  /** Those in the list, the last that came first. */
  readonly shown: readonly Item[];
  /** Those that wait while somebody reads, likewise. */
  readonly waiting: readonly Item[];
  /** How many were left out, by the stream or here. */
  readonly lost: number;
  /** Something was left out, and nobody knows how much. */
  readonly hasUnknownLoss: boolean;
}

/** So many are kept; older ones are found by the search. */
const MOST_SHOWN = 2000;
const MOST_WAITING = 1000;

export const NO_TAIL: Tail<never> = { shown: [], waiting: [], lost: 0, hasUnknownLoss: false };

/**
 * Takes what came, the first that came first. What is beyond the room of those that wait is lost, and counted.
 *
 * @param isPaused whether somebody reads, so that nothing may move
 * @param most of those that are shown
 */
export function arrived<Item extends Identified>(
  tail: Tail<Item>,
  items: readonly Item[],
  isPaused: boolean,
  most = MOST_SHOWN,
): Tail<Item> {
  const news = items.toReversed();
  if (!isPaused) return { ...tail, shown: [...news, ...tail.shown].slice(0, most) };
  const waiting = [...news, ...tail.waiting];
  const room = waiting.slice(0, MOST_WAITING);
  return { ...tail, waiting: room, lost: tail.lost + waiting.length - room.length };
}

/** Lets those into the list that wait. */
export function letIn<Item>(tail: Tail<Item>): Tail<Item> {
  if (tail.waiting.length === 0) return tail;
  return { ...tail, shown: [...tail.waiting, ...tail.shown].slice(0, MOST_SHOWN), waiting: [] };
}

/** @param count null where nobody knows it */
export function withLoss<Item>(tail: Tail<Item>, count: number | null): Tail<Item> {
  return count === null ? { ...tail, hasUnknownLoss: true } : { ...tail, lost: tail.lost + count };
}

/** The list with what has come before it, each record once. */
export function joined<Item extends Identified>(tail: Tail<Item>, list: readonly Item[]): readonly Item[] {
  if (tail.shown.length === 0) return list;
  const known = new Set(list.map(({ id }) => id));
  return [...tail.shown.filter(({ id }) => !known.has(id)), ...list];
}
