/** How much of an answer is kept by default. */
export const MAX_RESPONSE_BYTES = 16 * 1024;

const FIRST_BYTES = 1024;

/** The start of an answer, as a copy: if a receiver sends byte by byte, a whole buffer would otherwise be kept for each byte. */
export class ResponseStart {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);
  #length = 0;

  /** @param maxBytes how much is kept; a connection receives at most 128 KiB */
  constructor(maxBytes = MAX_RESPONSE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#length === this.#maxBytes;
  }

  /** Takes as much as there is room for. */
  add(piece: Uint8Array): void {
    const taken = piece.subarray(0, this.#maxBytes - this.#length);
    const length = this.#length + taken.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.min(this.#maxBytes, Math.max(FIRST_BYTES, 2 * length)));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(taken, this.#length);
    this.#length = length;
  }

  /** Decoded as UTF-8, with U+FFFD for invalid bytes. A character that was cut at the end is left out. */
  text(): string {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    return decoder.decode(this.#bytes.subarray(0, this.#length), { stream: this.isFull });
  }
}
