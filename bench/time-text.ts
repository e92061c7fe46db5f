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
