import { serializeJson } from '../../signal/json.js';
import type { Pages } from '../../storage/contracts/paging.js';

/**
 * A body up to this size is answered in one piece: that is cheaper, and a failure of the store can still become a proper error.
 */
const MAX_WHOLE_BYTES = 1024 * 1024;

/**
 * A body with a long list in the middle. Items pass through as the store wrote them, so a long list is never one string or object.
 *
 * @param items the inside of a JSON array in chunks, commas included
 * @returns the whole body if it is small, otherwise its chunks, read as the client takes them.
 * @throws ConsumeError if the store fails while the first part is read.
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

/** A paged list with its first page already read. */
export async function* pagesFrom<Item>(
  first: readonly Item[],
  others: Pages<Item> | undefined,
): AsyncGenerator<readonly Item[] | Uint8Array> {
  yield first;
  if (others !== undefined) yield* others;
}

/** Serializes a record to plain values or JSON. */
type Print<Item> = (item: Item) => object | string;

/**
 * Like `longBody`, for a paged list of rows or of serialized rows.
 *
 * @throws ConsumeError if the store fails while the first part is read.
 */
export async function longList<Item>(
  head: string,
  pages: Pages<Item> | Iterable<readonly Item[]>,
  print: Print<Item>,
  tail: string,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  return await longBody(head, serializePages(pages, print), tail);
}

/** The inside of a JSON array in pieces, commas included. */
export async function* serializePages<Item>(
  pages: Pages<Item> | Iterable<readonly Item[]>,
  print: Print<Item>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const page of pages) {
    if (page.length === 0) continue;
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield page instanceof Uint8Array ? page : Buffer.from(page.map((item) => jsonOf(print(item))).join(','));
  }
}

function jsonOf(printed: object | string): string {
  return typeof printed === 'string' ? printed : serializeJson(printed);
}

const COMMA = Buffer.from(',');

/** The same for a list that is in memory: thousands of items are never one string. */
export async function longArray<Item>(
  items: readonly Item[],
  print: Print<Item>,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  return await longList('[', inPages(items), print, ']');
}

function* inPages<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += PAGE_ITEMS) yield items.slice(from, from + PAGE_ITEMS);
}
