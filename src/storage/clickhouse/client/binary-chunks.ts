import { byteAt, wordAt } from '../../../signal/checked.js';
import { SHORT_TEXT, writeShortAscii } from '../../../worker/short-ascii.js';

/** Size of a chunk; a longer text gets a chunk of its own length. */
const CHUNK_BYTES = 256 * 1024;
/** Maximum size of an encoded length: 7 bits per byte, for a number below 2^35. */
const LENGTH_BYTES = 5;
const TWO_32 = 2 ** 32;

/** A growing list of byte chunks, written in ClickHouse's binary formats: little-endian. */
export class BinaryChunks {
  readonly #done: Buffer[] = [];
  #chunk: Buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #view: DataView = viewOf(this.#chunk);
  #at = 0;

  byte(value: number): void {
    this.#reserve(1);
    this.#chunk[this.#at++] = value;
  }

  /** @param value a 32-bit integer, signed or unsigned */
  int32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#at, value >>> 0, true);
    this.#at += 4;
  }

  /** @param value an exact integer, at most 2^53 */
  int64(value: number): void {
    this.#reserve(8);
    this.#view.setUint32(this.#at, value >>> 0, true);
    this.#view.setInt32(this.#at + 4, Math.floor(value / TWO_32), true);
    this.#at += 8;
  }

  /** The lower 64 bits of a number. */
  bigint64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigInt64(this.#at, BigInt.asIntN(64, value), true);
    this.#at += 8;
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  /** A UUID in four words, in the layout of `parseUuid`. ClickHouse writes the upper half first. */
  uuid(words: Uint32Array, offset: number): void {
    this.#reserve(16);
    const top = (wordAt(words, offset + 3) ^ 0x80000000) >>> 0;
    this.#view.setUint32(this.#at, wordAt(words, offset + 2), true);
    this.#view.setUint32(this.#at + 4, top, true);
    this.#view.setUint32(this.#at + 8, wordAt(words, offset), true);
    this.#view.setUint32(this.#at + 12, wordAt(words, offset + 1), true);
    this.#at += 16;
  }

  /** A UTF-8 text with its length as prefix. */
  text(value: string): void {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    this.#reserve(LENGTH_BYTES + value.length * 3);
    if (value.length <= SHORT_TEXT && writeShortAscii(value, this.#chunk, this.#at + 1)) {
      this.#chunk[this.#at] = value.length;
      this.#at += 1 + value.length;
      return;
    }
    this.length(Buffer.byteLength(value, 'utf8'));
    this.#at += this.#chunk.write(value, this.#at, 'utf8');
  }

  /** Bytes with their length as prefix. */
  bytes(value: Uint8Array): void {
    this.#reserve(LENGTH_BYTES + value.length);
    this.length(value.length);
    this.#chunk.set(value, this.#at);
    this.#at += value.length;
  }

  /**
   * Some of the bytes of `from`, with their length as prefix. Short slices are copied byte by byte, which is faster than creating a view.
   */
  slice(from: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(LENGTH_BYTES + length);
    this.length(length);
    if (length <= SHORT_TEXT) for (let at = start; at < end; at++) this.#chunk[this.#at++] = byteAt(from, at);
    else {
      this.#chunk.set(from.subarray(start, end), this.#at);
      this.#at += length;
    }
  }

  /** A length prefix. */
  length(value: number): void {
    this.#reserve(LENGTH_BYTES);
    let rest = value;
    while (rest >= 128) {
      this.#chunk[this.#at++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#chunk[this.#at++] = rest;
  }

  /** Everything written. The object must not be used afterwards. */
  take(): readonly Buffer[] {
    if (this.#at > 0) this.#done.push(this.#chunk.subarray(0, this.#at));
    this.#at = 0;
    return this.#done;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#chunk.length) return;
    if (this.#at > 0) this.#done.push(this.#chunk.subarray(0, this.#at));
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
    this.#view = viewOf(this.#chunk);
    this.#at = 0;
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
