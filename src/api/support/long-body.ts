/**
 * A body up to this size is answered in one piece: that is cheaper, and a failure of the store can still become a proper error.
 */
const MAX_WHOLE_BYTES = 1024 * 1024;

/**
 * A body with a long list in the middle. Its items pass through as the store wrote them: ten thousand of them are never one
 * string or one object here.
 *
 * @param items the inside of a JSON array in pieces, commas included
 * @returns all of it where it is small, otherwise its pieces, which are read as the client takes them.
 * @throws ConsumeError what the store throws while the first part is read.
 */
export async function longBody(
  head: string,
  items: AsyncIterable<Uint8Array>,
  tail: string,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const first: Uint8Array[] = [Buffer.from(head)];
  const end = Buffer.from(tail);
  const iterator = items[Symbol.asyncIterator]();
  for (let bytes = 0; bytes < MAX_WHOLE_BYTES;) {
    const next = await iterator.next();
    if (next.done === true) return Buffer.concat([...first, end]);
    first.push(next.value);
    bytes += next.value.length;
  }
  return pieces(Buffer.concat(first), iterator, end);
}

/** Not a generator: one that is ended before its first piece would not end the items. */
function pieces(
  head: Uint8Array,
  items: AsyncIterator<Uint8Array>,
  tail: Uint8Array,
): AsyncIterable<Uint8Array> {
  let part: 'head' | 'items' | 'over' = 'head';
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    if (part === 'over') return { done: true, value: undefined };
    if (part === 'head') {
      part = 'items';
      return { value: head };
    }
    const item = await items.next();
    if (item.done !== true) return item;
    part = 'over';
    return { value: tail };
  };
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    part = 'over';
    await items.return?.();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** How many items of a list in memory are printed at a time. */
const PAGE_ITEMS = 200;

/** A list whose first items are known already. */
export async function* pagesFrom<Item>(
  first: readonly Item[],
  others: AsyncIterable<readonly Item[]> | undefined,
): AsyncGenerator<readonly Item[]> {
  yield first;
  if (others !== undefined) yield* others;
}

type Pages<Item> = AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>;

/**
 * The same for a list that comes as records, some at a time.
 *
 * @param print gives what is shown of a record, as plain JSON
 * @throws ConsumeError what the store throws while the first part is read.
 */
export async function longList<Item>(
  head: string,
  pages: Pages<Item>,
  print: (item: Item) => object,
  tail: string,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  return await longBody(head, printPages(pages, print), tail);
}

async function* printPages<Item>(
  pages: Pages<Item>,
  print: (item: Item) => object,
): AsyncGenerator<Uint8Array> {
  let separator = '';
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield Buffer.from(separator + page.map((item) => JSON.stringify(print(item))).join(','));
    separator = ',';
  }
}

/** The same for a list that is in memory: thousands of items are never one string. */
export async function longArray<Item>(
  items: readonly Item[],
  print: (item: Item) => object,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  return await longList('[', inPages(items), print, ']');
}

function* inPages<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += PAGE_ITEMS) yield items.slice(from, from + PAGE_ITEMS);
}
