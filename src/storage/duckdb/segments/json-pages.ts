/** Items as JSON with commas between them. */
interface Page {
  readonly json: Uint8Array;
}

/**
 * A list, read page by page as somebody consumes it.
 *
 * @param restOf by which the next pages are read; null after the last one
 * @throws what `read` throws
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
