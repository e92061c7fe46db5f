/** In characters. Longer texts hardly come again, and would make what is remembered large. */
const LONGEST = 256;

/**
 * The same function, which remembers what it found for texts that come again and again. Senders choose the texts: when it knows
 * `most` of them it forgets all, and long ones it does not remember at all.
 *
 * @param find gives the same for the same text, always
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
