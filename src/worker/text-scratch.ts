import { SHORT_TEXT, writeShortAscii } from './short-ascii.js';

const INITIAL_TEXT_BYTES = 64 * 1024;

/** The growing text of a set of columns. Each encoder has one and reuses it. */
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
    // A UTF-16 unit takes at most three bytes in UTF-8.
    this.#reserve(text.length * 3);
    if (text.length <= SHORT_TEXT && writeShortAscii(text, this.#buffer, this.#length))
      this.#length += text.length;
    else this.#length += this.#buffer.write(text, this.#length, 'utf8');
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

  /** @param at position of four bytes that are already appended */
  setUint32(at: number, value: number): void {
    this.#buffer.writeUInt32LE(value, at);
  }

  /** A copy of the appended text. */
  take(): ArrayBuffer {
    return this.#buffer.buffer.slice(0, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
