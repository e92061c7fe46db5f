/** Maximum length for which this is faster than `Buffer.write`, whose call overhead equals about 20 characters. */
export const SHORT_TEXT = 16;

/**
 * Writes a text character by character.
 *
 * @param at position with enough space
 * @returns whether it was all ASCII; otherwise overwrite it
 */
export function writeShortAscii(text: string, to: Uint8Array, at: number): boolean {
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    all |= code;
    to[at + i] = code;
  }
  return all <= 127;
}
