import { serializePages } from '../../src/api/support/long-body.js';
import type { Pages } from '../../src/storage/contracts/paging.js';

/** Returns the API form of a row, for engines with rows instead of text. */
type Print = (row: never) => object;

const asItIs = (row: object): object => row;

/** The content of a JSON array in chunks. @param pages undefined for none */
export function piecesOf(pages: Pages<object> | undefined, print: Print = asItIs): AsyncIterable<Uint8Array> {
  return serializePages(pages ?? [], print as (row: object) => object);
}

/** The chunks as one text. */
export async function textOf(pages: Pages<object> | undefined, print?: Print): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of piecesOf(pages, print)) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}

/** The content of a list in API format. */
export async function listOf<Item>(pages: Pages<object> | undefined, print?: Print): Promise<Item[]> {
  return JSON.parse(`[${await textOf(pages, print)}]`) as Item[];
}
