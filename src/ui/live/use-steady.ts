import { useState } from 'react';
import { cameSince, steady, type Held } from './steady.js';

interface SteadyList<Item> {
  readonly items: readonly Item[] | undefined;
  /** Of rows that came and are not shown yet. */
  readonly newKeys: readonly string[];
  readonly isMoved: boolean;
  /** Shows a newer answer as it is. */
  readonly renew: (fresh: readonly Item[]) => void;
}

/**
 * A list whose rows keep their places while it is read.
 *
 * @param list which one it is: another one is shown as it comes
 * @param fresh the same array until another answer comes
 * @param isOfAnother whether `fresh` is still the answer for the list before
 * @param keyOf the same function at each call
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
  const since = next?.list === list ? cameSince(next, keyOf) : { keys: [], isMoved: false };
  return {
    items: next?.items ?? fresh,
    newKeys: since.keys,
    isMoved: since.isMoved,
    renew: (newer) => {
      setHeld({ list, items: newer, fresh: newer });
    },
  };
}
