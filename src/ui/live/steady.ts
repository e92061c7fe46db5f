/** A list as it is being read. */
export interface Held<Item> {
  /** Which list it is; another one takes its place. */
  readonly list: string;
  readonly items: readonly Item[];
  /** The answer that was taken in last. */
  readonly fresh: readonly Item[];
}

/**
 * A list that does not move while it is read: its rows keep their places and take what became of them.
 *
 * @param fresh the list as it is now
 */
export function steady<Item>(
  held: Held<Item> | undefined,
  list: string,
  fresh: readonly Item[],
  keyOf: (item: Item) => string,
): Held<Item> {
  if (held?.list === list && held.fresh === fresh) return held;
  // Where nothing is read, nothing moves.
  if (held?.list !== list || held.items.length === 0) return { list, items: fresh, fresh };
  const newest = new Map(fresh.map((item) => [keyOf(item), item]));
  return { list, items: held.items.map((item) => newest.get(keyOf(item)) ?? item), fresh };
}

/** What came since a list is read, and whether the others stand in another order now. */
export function cameSince<Item>(
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
