/** A list held in place while it is read. */
export interface Held<Item> {
  /** Identifies the list; another one replaces it. */
  readonly list: string;
  readonly items: readonly Item[];
  /** The last merged response. */
  readonly fresh: readonly Item[];
}

/**
 * A list that does not move while it is read: rows keep their places and are updated in place.
 *
 * @param fresh the current list
 */
export function steady<Item>(
  held: Held<Item> | undefined,
  list: string,
  fresh: readonly Item[],
  keyOf: (item: Item) => string,
): Held<Item> {
  if (held?.list === list && held.fresh === fresh) return held;
  // An empty list has nothing to keep in place.
  if (held?.list !== list || held.items.length === 0) return { list, items: fresh, fresh };
  const newest = new Map(fresh.map((item) => [keyOf(item), item]));
  return { list, items: held.items.map((item) => newest.get(keyOf(item)) ?? item), fresh };
}

/** New rows since the list was shown, and whether the order of the others changed. */
export function changesSince<Item>(
  { items, fresh }: Held<Item>,
  keyOf: (item: Item) => string,
): { readonly keys: readonly string[]; readonly isMoved: boolean } {
  const places = new Map(items.map((item, at) => [keyOf(item), at]));
  const keys = fresh.map(keyOf);
  const known = keys.flatMap((key) => places.get(key) ?? []);
  return {
    keys: keys.filter((key) => !places.has(key)),
    isMoved: known.some((place, at) => at > 0 && place < (known[at - 1] ?? 0)),
  };
}
