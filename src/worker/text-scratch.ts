const INITIAL_TEXT_BYTES = 64 * 1024;
/** Shorter ASCII texts are written character by character: a call of `Buffer.write` takes as long as 20 of them. */
const SHORT = 16;

/** The text of a set of columns while it grows. One per encoder, reused all the time. */
export class TextScratch {
  #buffer: Buffer<ArrayBuffer>;
  #length = 0;

  constructor(initialBytes = INITIAL_TEXT_BYTES) {
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  append(text: string): void {
    // UTF-8 takes at most three bytes for a UTF-16 unit.
    this.#reserve(text.length * 3);
    if (text.length > SHORT || !this.#appendAscii(text))
      this.#length += this.#buffer.write(text, this.#length, 'utf8');
  }

  appendBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  appendByte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = byte;
  }

  appendUint32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32LE(value, this.#length);
  }

  /** @param at where four bytes lie already */
  setUint32(at: number, value: number): void {
    this.#buffer.writeUInt32LE(value, at);
  }

  /** A copy of exactly what was appended. */
  take(): ArrayBuffer {
    return this.#buffer.buffer.slice(0, this.#length);
  }

  /** @returns false, and nothing is appended, where the text is not all ASCII */
  #appendAscii(text: string): boolean {
    const start = this.#length;
    let all = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      all |= code;
      this.#buffer[start + i] = code;
    }
    if (all > 127) return false;
    this.#length = start + text.length;
    return true;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
