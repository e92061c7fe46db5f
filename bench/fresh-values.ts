import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 64 * 1024;
const ID_BYTES = 16;
const TEXT_BYTES = 36;
const HEX = Buffer.from('0123456789abcdef', 'latin1');
/** Offsets of the hex digits of each byte in the text of a UUID. */
const HEX_OFFSETS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Writes random ids into a buffer: UUIDs (version 4) as text, hex digits, or bytes. A million ids per second take a
 * fraction of a core.
 */
export class FreshIds {
  readonly #pool = Buffer.allocUnsafe(POOL_BYTES);
  #used = POOL_BYTES;

  /** Writes one new id of at most 16 bytes at each of the positions. */
  writeBytes(target: Buffer, positions: readonly { readonly offset: number }[], bytes: number): void {
    this.#refill();
    for (const { offset } of positions) this.#pool.copy(target, offset, this.#used, this.#used + bytes);
    this.#used += bytes;
  }

  /** Writes random hex digits. @param digits an even number, at most 32 */
  writeHex(target: Buffer, { offset }: { readonly offset: number }, digits: number): void {
    this.#refill();
    for (let position = offset; position < offset + digits; position += 2) {
      const byte = this.#pool[this.#used++] ?? 0;
      target[position] = HEX[byte >> 4] ?? 0;
      target[position + 1] = HEX[byte & 15] ?? 0;
    }
  }

  /** Writes one new UUID (36 bytes) at each of the offsets. */
  write(target: Buffer, offsets: readonly number[]): void {
    this.#refill();
    const first = offsets[0];
    if (first === undefined) return;
    for (let index = 0; index < ID_BYTES; index += 1) {
      let byte = this.#pool[this.#used + index] ?? 0;
      if (index === 6) byte = (byte & 0x0f) | 0x40;
      else if (index === 8) byte = (byte & 0x3f) | 0x80;
      const position = first + (HEX_OFFSETS[index] ?? 0);
      target[position] = HEX[byte >> 4] ?? 0;
      target[position + 1] = HEX[byte & 15] ?? 0;
    }
    this.#used += ID_BYTES;
    for (let index = 1; index < offsets.length; index += 1) {
      target.copyWithin(offsets[index] ?? first, first, first + TEXT_BYTES);
    }
  }

  /** Ensures that the pool has enough bytes for one id. */
  #refill(): void {
    if (this.#used + ID_BYTES <= POOL_BYTES) return;
    randomFillSync(this.#pool);
    this.#used = 0;
  }
}

const DAY_MS = 86_400_000;
const ZERO = 48;

/** Writes times as `2026-11-20T15:30:00.123Z` into a buffer. Uses the slow `Date` only once per day. */
export class TimeText {
  #dayStartMs = Number.NaN;
  readonly #day = Buffer.alloc(11);

  /** @param ms milliseconds since the epoch, an integer. Writes 24 bytes. */
  write(target: Buffer, offset: number, ms: number): void {
    let dayMs = ms - this.#dayStartMs;
    if (!(dayMs >= 0 && dayMs < DAY_MS)) {
      this.#dayStartMs = Math.floor(ms / DAY_MS) * DAY_MS;
      this.#day.write(new Date(ms).toISOString().slice(0, 11), 'latin1');
      dayMs = ms - this.#dayStartMs;
    }
    for (let index = 0; index < 11; index += 1) target[offset + index] = this.#day[index] ?? 0;
    const seconds = Math.floor(dayMs / 1000);
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    const millis = dayMs - seconds * 1000;
    writeTwoDigits(target, offset + 11, hours);
    target[offset + 13] = 58;
    writeTwoDigits(target, offset + 14, minutes - hours * 60);
    target[offset + 16] = 58;
    writeTwoDigits(target, offset + 17, seconds - minutes * 60);
    target[offset + 19] = 46;
    const hundreds = Math.floor(millis / 100);
    target[offset + 20] = ZERO + hundreds;
    writeTwoDigits(target, offset + 21, millis - hundreds * 100);
    target[offset + 23] = 90;
  }
}

function writeTwoDigits(target: Buffer, offset: number, value: number): void {
  const tens = Math.floor(value / 10);
  target[offset] = ZERO + tens;
  target[offset + 1] = ZERO + value - tens * 10;
}

const NANO_BYTES = 8;

/** Writes times as nanoseconds since the epoch in a protobuf `fixed64` (64 bits, little-endian). */
export class NanoTime {
  #ms = Number.NaN;
  readonly #last = Buffer.alloc(NANO_BYTES);

  /** @param ms milliseconds since the epoch, an integer */
  write(target: Buffer, offset: number, ms: number): void {
    // Points of a request often have the same time.
    if (ms !== this.#ms) {
      this.#ms = ms;
      this.#last.writeBigUInt64LE(BigInt(ms) * 1_000_000n);
    }
    this.#last.copy(target, offset);
  }
}
