const SLOTS = 1024;
/** Attribute keys and most names are shorter. */
const LONGEST = 64;
const NO_SLOT = -1;

/**
 * A cache of short texts by their bytes: the keys of attributes repeat in every span. A lookup costs less than decoding, and
 * equal keys are one string, which makes comparisons cheap.
 */
export class ShortTexts {
  readonly #texts: (string | undefined)[] = new Array<string | undefined>(SLOTS).fill(undefined);
  #slot = NO_SLOT;

  /** The cached text of these bytes, if there is one. */
  find(bytes: Uint8Array, start: number, end: number): string | undefined {
    this.#slot = NO_SLOT;
    if (end - start > LONGEST) return undefined;
    let hash = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] ?? 0;
      // Only ASCII can be compared byte by byte.
      if (byte > 127) return undefined;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    this.#slot = (hash ^ (hash >>> 10)) & (SLOTS - 1);
    const text = this.#texts[this.#slot];
    return text !== undefined && isText(text, bytes, start, end) ? text : undefined;
  }

  /** Caches the text of the last {@link find}, in place of another text in the same slot. */
  put(text: string): void {
    if (this.#slot !== NO_SLOT) this.#texts[this.#slot] = text;
  }
}

function isText(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
