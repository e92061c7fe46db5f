/** Items as JSON with commas between them. */
interface Page {
  readonly json: Uint8Array;
}

/**
 * A list whose pages are read when they are needed.
 *
 * @param restOf arguments for reading the next pages; null after the last page
 * @throws errors of `read`
 */
export async function* jsonPages<P extends Page, Rest>(
  first: P,
  restOf: (page: P) => Rest | null,
  read: (rest: Rest) => Promise<P>,
): AsyncGenerator<Uint8Array> {
  let page = first;
  for (;;) {
    if (page.json.length > 0) yield page.json;
    const rest = restOf(page);
    if (rest === null) return;
    page = await read(rest);
  }
}
