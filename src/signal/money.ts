/** US dollars in thousand-millionths, an exact integer: what one span, or one run, costs. */
export type NanoUsd = number;

/** US dollars, as the double that is nearest to an exact sum, or to the mean of one. */
export type Usd = number;

/** The largest amount that is taken: less than a million. */
export const MOST_NANO_USD: NanoUsd = 10 ** 15 - 1;

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d*))?$/;
const EXPONENT = /^([+-]?)(\d+)(?:\.(\d*))?[eE]([+-]?\d{1,3})$/;
const MAX_WHOLE_DIGITS = 6;
const SCALE = 9;
const NANOS = 10 ** SCALE;
const POWERS_OF_TEN = [1, 10, 100, 1000, 10_000, 100_000, 1e6, 1e7, 1e8, 1e9] as const;

/**
 * Reads an amount of money (decisions §1): a decimal string or a JSON number, less than a million, and after rounding half
 * to even with at most nine digits behind the point.
 *
 * @returns nano-USD (may be negative), or undefined where the value is no such amount.
 */
export function parseMoney(value: string | number): NanoUsd | undefined {
  if (typeof value === 'number') return readAny(String(value));
  return readPlain(value) ?? readAny(value.trim());
}

/**
 * The form that SDKs send, `0.001250`: unsigned, up to six digits, a point, up to nine digits. Ten times faster than
 * the general way.
 */
function readPlain(text: string): NanoUsd | undefined {
  const end = text.length;
  if (end > MAX_WHOLE_DIGITS + 1 + SCALE) return undefined;
  let digits = 0;
  let point = -1;
  for (let at = 0; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (digit === -2 && point < 0 && at > 0) point = at;
    else return undefined;
  }
  const whole = point < 0 ? end : point;
  const weight = POWERS_OF_TEN[point < 0 ? SCALE : SCALE - (end - point - 1)];
  return whole === 0 || whole > MAX_WHOLE_DIGITS || weight === undefined ? undefined : digits * weight;
}

function readAny(text: string): NanoUsd | undefined {
  const parts = DECIMAL.exec(text) ?? expand(text);
  if (!parts) return undefined;
  const [, sign, rawWhole = '', fraction = ''] = parts;
  const whole = rawWhole.replace(/^0+(?=\d)/, '');
  if (whole.length > MAX_WHOLE_DIGITS) return undefined;
  const kept = Number(whole + fraction.slice(0, SCALE).padEnd(SCALE, '0'));
  const nanos = kept + roundUp(kept, fraction.slice(SCALE));
  if (nanos > MOST_NANO_USD) return undefined;
  return sign === '-' && nanos !== 0 ? -nanos : nanos;
}

/** An amount as the JSON number the API shows. */
export function moneyToNumber(nanos: NanoUsd): Usd {
  return nanos / NANOS;
}

/** An amount as the decimal text that is read as the same again: `0.001250`, with more than six digits only where it has them. */
export function moneyToText(nanos: NanoUsd): string {
  const digits = String(Math.abs(nanos)).padStart(SCALE + 1, '0');
  const text = `${nanos < 0 ? '-' : ''}${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`;
  return text.replace(/0{1,3}$/, '');
}

/**
 * A sum of amounts, however many there were and however large, as the JSON number the API shows: rounded once.
 *
 * @param nanos exact
 */
export function sumToNumber(nanos: bigint): Usd {
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(SCALE + 1, '0');
  const amount = Number(`${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`);
  return nanos < 0n ? -amount : amount;
}

/** A sum of amounts to which some are added and from which some are taken away again: exact, however large it becomes. */
export class MoneySum {
  /** In parts that stay exact integers, because adding to a BigInt takes ten times as long. */
  #dollars = 0;
  #nanos = 0;

  add(nanos: NanoUsd, sign: 1 | -1): void {
    const dollars = Math.trunc(nanos / NANOS);
    this.#dollars += sign * dollars;
    this.#nanos += sign * (nanos - dollars * NANOS);
    if (Math.abs(this.#nanos) < NANOS) return;
    this.#dollars += Math.sign(this.#nanos);
    this.#nanos -= Math.sign(this.#nanos) * NANOS;
  }

  toNumber(): Usd {
    return sumToNumber(BigInt(this.#dollars) * BigInt(NANOS) + BigInt(this.#nanos));
  }
}

/** 1 when the digits cut off round half-to-even upwards, else 0. */
function roundUp(kept: number, cut: string): 0 | 1 {
  if (!/[1-9]/.test(cut)) return 0;
  const first = cut.charCodeAt(0) - 48;
  if (first !== 5) return first > 5 ? 1 : 0;
  return /[1-9]/.test(cut.slice(1)) || kept % 2 === 1 ? 1 : 0;
}

/** Writes `1.5e-7` without its exponent, as the groups of {@link DECIMAL}. */
function expand(text: string): RegExpExecArray | null {
  const found = EXPONENT.exec(text);
  if (!found) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found;
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  if (point <= 0) return DECIMAL.exec(`${sign}0.${'0'.repeat(-point)}${digits}`);
  return DECIMAL.exec(`${sign}${digits.slice(0, point).padEnd(point, '0')}.${digits.slice(point)}`);
}
