/** The texts of pieces, put together. */
export async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}

/** What a list has whose inside comes in pieces of JSON. */
export async function listOf<Item>(pieces: AsyncIterable<Uint8Array>): Promise<Item[]> {
  return JSON.parse(`[${await textOf(pieces)}]`) as Item[];
}
