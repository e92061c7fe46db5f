/** Billionths of a US dollar, an exact integer: the cost of one span or one run. */
export type NanoUsd = number;

/** US dollars: the double nearest to an exact sum or mean. */
export type Usd = number;

/** The largest accepted amount: just below a million US dollars. */
export const MOST_NANO_USD: NanoUsd = 10 ** 15 - 1;

/**
 * Pattern of an amount: digits, optionally a point and more digits, optionally an exponent (Python's `Decimal` writes `2E-8`). No
 * sign, no spaces. It does not limit the amount.
 */
export const MONEY_PATTERN = '^(\\d+)(?:\\.(\\d+))?(?:[eE]([+-]?\\d{1,3}))?$';

const MONEY = new RegExp(MONEY_PATTERN);
const MAX_WHOLE_DIGITS = 6;
const SCALE = 9;
/** Nano-USD in a dollar. */
export const NANOS = 10 ** SCALE;
const POWERS_OF_TEN = [1, 10, 100, 1000, 10_000, 100_000, 1e6, 1e7, 1e8, 1e9] as const;

/**
 * Reads an amount of money: a text that matches {@link MONEY_PATTERN} or a JSON number, not negative, less than a million;
 * rounded half to even to nine digits after the point.
 *
 * @returns nano-USD; undefined if the value is not such an amount
 */
export function parseMoney(value: string | number): NanoUsd | undefined {
  return typeof value === 'number' ? readAny(String(value)) : (readPlain(value) ?? readAny(value));
}

/**
 * Reads the form that SDKs send, `0.001250`: up to six digits, a point, up to nine digits. Ten times faster than the general way.
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
  if (point === end - 1) return undefined;
  const weight = POWERS_OF_TEN[point < 0 ? SCALE : SCALE - (end - point - 1)];
  return whole === 0 || whole > MAX_WHOLE_DIGITS || weight === undefined ? undefined : digits * weight;
}

function readAny(text: string): NanoUsd | undefined {
  const parts = MONEY.exec(text);
  if (!parts) return undefined;
  const [, digits = '', behind = '', exponent = '0'] = parts;
  const { whole, fraction } = shifted(digits, behind, Number(exponent));
  if (whole.length > MAX_WHOLE_DIGITS) return undefined;
  const kept = Number(whole + fraction.slice(0, SCALE).padEnd(SCALE, '0'));
  const nanos = kept + roundUp(kept, fraction.slice(SCALE));
  return nanos > MOST_NANO_USD ? undefined : nanos;
}

/**
 * Moves the decimal point by the exponent, to the right if that is positive.
 *
 * @returns the whole digits without leading zeros
 */
function shifted(digits: string, behind: string, exponent: number): { whole: string; fraction: string } {
  const before = digits.padStart(1 - exponent, '0');
  const after = behind.padEnd(exponent, '0');
  const all = before + after;
  const point = before.length + exponent;
  return { whole: all.slice(0, point).replace(/^0+(?=\d)/, ''), fraction: all.slice(point) };
}

/** An amount as a JSON number for the API. */
export function moneyToNumber(nanos: NanoUsd): Usd {
  return nanos / NANOS;
}

/**
 * A non-negative amount as decimal text that reads back as the same amount: `0.001250`, with more than six decimals only if
 * needed.
 */
export function moneyToText(nanos: NanoUsd): string {
  const digits = String(nanos).padStart(SCALE + 1, '0');
  return `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/0{1,3}$/, '');
}

/**
 * A sum of any size as a JSON number for the API, rounded once.
 *
 * @param nanos exact
 */
export function sumToNumber(nanos: bigint): Usd {
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(SCALE + 1, '0');
  const amount = Number(`${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`);
  return nanos < 0n ? -amount : amount;
}

const MEAN_DIGITS = 12;

/** A mean to 12 significant digits; null of nothing. */
export function meanCost(sum: Usd, count: number): Usd | null {
  return count === 0 ? null : Number((sum / count).toPrecision(MEAN_DIGITS));
}

/** A sum of amounts that are added and removed, exact at any size. */
export class MoneySum {
  /** Split into parts that remain exact integers, because adding to a BigInt takes ten times as long. */
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

/** 1 if the digits cut off round half to even upwards, otherwise 0. */
function roundUp(kept: number, cut: string): 0 | 1 {
  if (!/[1-9]/.test(cut)) return 0;
  const first = cut.charCodeAt(0) - 48;
  if (first !== 5) return first > 5 ? 1 : 0;
  return /[1-9]/.test(cut.slice(1)) || kept % 2 === 1 ? 1 : 0;
}
