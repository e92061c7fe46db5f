interface Identified {
  readonly id: string;
}

/** Items received since following began. */
export interface Tail<Item> {
  /** Displayed items, the newest first. */
  readonly shown: readonly Item[];
  /** Items held back while the user reads, the newest first. */
  readonly waiting: readonly Item[];
  /** Number of items skipped by the stream or here. */
  readonly lost: number;
  /** An unknown number of items was skipped. */
  readonly hasUnknownLoss: boolean;
}

/** Older items are dropped from the list; a search finds them. */
const MAX_SHOWN = 2000;
const MAX_WAITING = 1000;

export const NO_TAIL: Tail<never> = { shown: [], waiting: [], lost: 0, hasUnknownLoss: false };

/**
 * Adds received items, in order of arrival. Items beyond the waiting limit are counted as lost.
 *
 * @param isPaused whether the user is reading, so that nothing may move
 * @param most limit of displayed items
 */
export function arrived<Item extends Identified>(
  tail: Tail<Item>,
  items: readonly Item[],
  isPaused: boolean,
  most = MAX_SHOWN,
): Tail<Item> {
  const updates = items.toReversed();
  if (!isPaused) return { ...tail, shown: [...updates, ...tail.shown].slice(0, most) };
  const waiting = [...updates, ...tail.waiting];
  const room = waiting.slice(0, MAX_WAITING);
  return { ...tail, waiting: room, lost: tail.lost + waiting.length - room.length };
}

/** Moves waiting items into the list. */
export function letIn<Item>(tail: Tail<Item>): Tail<Item> {
  if (tail.waiting.length === 0) return tail;
  return { ...tail, shown: [...tail.waiting, ...tail.shown].slice(0, MAX_SHOWN), waiting: [] };
}

/** @param count null if unknown */
export function withLoss<Item>(tail: Tail<Item>, count: number | null): Tail<Item> {
  return count === null ? { ...tail, hasUnknownLoss: true } : { ...tail, lost: tail.lost + count };
}

/** The list with loaded items appended, without duplicates. */
export function joined<Item extends Identified>(tail: Tail<Item>, list: readonly Item[]): readonly Item[] {
  if (tail.shown.length === 0) return list;
  const known = new Set(list.map(({ id }) => id));
  return [...tail.shown.filter(({ id }) => !known.has(id)), ...list];
}
