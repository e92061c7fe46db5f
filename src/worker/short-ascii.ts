/** Up to so many characters it is faster than `Buffer.write`, a call of which takes as long as 20 of them. */
export const SHORT_TEXT = 16;

/** Writes a text character by character. @param at where there is room for it @returns whether it was all ASCII; otherwise what was written is to be replaced */
export function writeShortAscii(text: string, to: Uint8Array, at: number): boolean {
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    all |= code;
    to[at + i] = code;
  }
  return all <= 127;
}
