/** Compares the length in code points; some code points take two units of a string. */
export function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > max * 2) return true;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // The second half of a pair was counted with the first.
    if (code < 0xdc00 || code > 0xdfff) count++;
  }
  return count > max;
}
