/** In characters. Longer texts rarely repeat and would make the cache large. */
const LONGEST = 256;

/**
 * Memoizes a function of a text. Texts are untrusted: the cache is cleared at `most` entries, and long texts are not cached.
 *
 * @param find a pure function
 */
export function remembering<T>(most: number, find: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly found: T }>();
  return (text) => {
    if (text.length > LONGEST) return find(text);
    const before = known.get(text);
    if (before !== undefined) return before.found;
    if (known.size === most) known.clear();
    const found = find(text);
    known.set(text, { found });
    return found;
  };
}
