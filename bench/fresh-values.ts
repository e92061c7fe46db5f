import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 64 * 1024;
const ID_BYTES = 16;
const TEXT_BYTES = 36;
const HEX = Buffer.from('0123456789abcdef', 'latin1');
/** Where the two hex digits of each byte stand in the text of a UUID. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Random ids, written straight into a buffer: UUIDs (form of version 4) as text, and plain bytes. A million a second costs a
 * fraction of a core.
 */
export class FreshIds {
  readonly #pool = Buffer.allocUnsafe(POOL_BYTES);
  #used = POOL_BYTES;

  /** Writes one new id of so many bytes, at most 16, at each of the places. */
  writeBytes(target: Buffer, places: readonly { readonly offset: number }[], bytes: number): void {
    this.#provide();
    for (const { offset } of places) this.#pool.copy(target, offset, this.#used, this.#used + bytes);
    this.#used += bytes;
  }

  /** Writes so many hex digits, an even number of at most 32. */
  writeHex(target: Buffer, { offset }: { readonly offset: number }, digits: number): void {
    this.#provide();
    for (let place = offset; place < offset + digits; place += 2) {
      const byte = this.#pool[this.#used++] ?? 0;
      target[place] = HEX[byte >> 4] ?? 0;
      target[place + 1] = HEX[byte & 15] ?? 0;
    }
  }

  /** Writes one new id, 36 bytes, at each of the offsets. */
  write(target: Buffer, offsets: readonly number[]): void {
    this.#provide();
    const first = offsets[0];
    if (first === undefined) return;
    for (let index = 0; index < ID_BYTES; index += 1) {
      let byte = this.#pool[this.#used + index] ?? 0;
      if (index === 6) byte = (byte & 0x0f) | 0x40;
      else if (index === 8) byte = (byte & 0x3f) | 0x80;
      const place = first + (PLACES[index] ?? 0);
      target[place] = HEX[byte >> 4] ?? 0;
      target[place + 1] = HEX[byte & 15] ?? 0;
    }
    this.#used += ID_BYTES;
    for (let index = 1; index < offsets.length; index += 1) {
      target.copyWithin(offsets[index] ?? first, first, first + TEXT_BYTES);
    }
  }

  /** Sees to it that there is enough for one id. */
  #provide(): void {
    if (this.#used + ID_BYTES <= POOL_BYTES) return;
    randomFillSync(this.#pool);
    this.#used = 0;
  }
}

const DAY_MS = 86_400_000;
const ZERO = 48;

/** Writes times as `2026-11-20T15:30:00.123Z` into a buffer. Only the first time of each day goes the slow way of `Date`. */
export class TimeText {
  #dayStartMs = Number.NaN;
  readonly #day = Buffer.alloc(11);

  /** @param ms milliseconds since the epoch, an integer. Writes 24 bytes. */
  write(target: Buffer, offset: number, ms: number): void {
    let rest = ms - this.#dayStartMs;
    if (!(rest >= 0 && rest < DAY_MS)) {
      this.#dayStartMs = Math.floor(ms / DAY_MS) * DAY_MS;
      this.#day.write(new Date(ms).toISOString().slice(0, 11), 'latin1');
      rest = ms - this.#dayStartMs;
    }
    for (let index = 0; index < 11; index += 1) target[offset + index] = this.#day[index] ?? 0;
    const seconds = Math.floor(rest / 1000);
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    const millis = rest - seconds * 1000;
    pair(target, offset + 11, hours);
    target[offset + 13] = 58;
    pair(target, offset + 14, minutes - hours * 60);
    target[offset + 16] = 58;
    pair(target, offset + 17, seconds - minutes * 60);
    target[offset + 19] = 46;
    const hundreds = Math.floor(millis / 100);
    target[offset + 20] = ZERO + hundreds;
    pair(target, offset + 21, millis - hundreds * 100);
    target[offset + 23] = 90;
  }
}

function pair(target: Buffer, offset: number, value: number): void {
  const tens = Math.floor(value / 10);
  target[offset] = ZERO + tens;
  target[offset + 1] = ZERO + value - tens * 10;
}

const NANO_BYTES = 8;

/** Writes times as nanoseconds since the epoch, 64 bits little-endian, as protobuf's `fixed64` has them. */
export class NanoTime {
  #ms = Number.NaN;
  readonly #last = Buffer.alloc(NANO_BYTES);

  /** @param ms milliseconds since the epoch, an integer */
  write(target: Buffer, offset: number, ms: number): void {
    // The points of a request have one time.
    if (ms !== this.#ms) {
      this.#ms = ms;
      this.#last.writeBigUInt64LE(BigInt(ms) * 1_000_000n);
    }
    this.#last.copy(target, offset);
  }
}
