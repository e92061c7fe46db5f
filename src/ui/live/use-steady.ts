import { useState } from 'react';
import { changesSince, steady, type Held } from './steady.js';

interface SteadyList<Item> {
  readonly items: readonly Item[] | undefined;
  /** Keys of new rows that are not shown yet. */
  readonly newKeys: readonly string[];
  readonly isMoved: boolean;
  /** Shows a newer response. */
  readonly renew: (fresh: readonly Item[]) => void;
}

/**
 * A list whose rows keep their places while it is read.
 *
 * @param list identity of the list; another list is shown immediately
 * @param fresh the same array until a new response arrives
 * @param isOfAnother whether `fresh` still belongs to the previous list
 * @param keyOf a stable function
 */
export function useSteady<Item>(
  list: string,
  fresh: readonly Item[] | undefined,
  isOfAnother: boolean,
  keyOf: (item: Item) => string,
): SteadyList<Item> {
  const [held, setHeld] = useState<Held<Item>>();
  const next = fresh === undefined || isOfAnother ? held : steady(held, list, fresh, keyOf);
  if (next !== held) setHeld(next);
  const since = next?.list === list ? changesSince(next, keyOf) : { keys: [], isMoved: false };
  return {
    items: next?.items ?? fresh,
    newKeys: since.keys,
    isMoved: since.isMoved,
    renew: (newer) => {
      setHeld({ list, items: newer, fresh: newer });
    },
  };
}
