/** Whether a name fits. */
export type NameTest = (name: string) => boolean;

/**
 * The patterns of a price table: `*` stands for any characters, or for none, and everything else for itself; case does not
 * matter. A pattern without `/` is compared with what follows the last `/` of a name, so that `gpt-5` also fits `openai/gpt-5`;
 * one with `/` with the whole name. The time it takes grows only with the length of the name, whatever the pattern, because
 * senders choose names.
 */
export function namePattern(pattern: string): NameTest {
  const parts = pattern.toLowerCase().split('*');
  const isWhole = pattern.includes('/');
  return (name) => {
    const lower = name.toLowerCase();
    return fits(isWhole ? lower : lower.slice(lower.lastIndexOf('/') + 1), parts);
  };
}

/** @param parts must occur in the text one after the other; the first at its start, the last at its end */
function fits(text: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  const end = text.length - last.length;
  if (!text.startsWith(first) || end < first.length || !text.endsWith(last)) return false;
  let at = first.length;
  // The earliest place of each part leaves the most room for the next.
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
