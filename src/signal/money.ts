/** US dollars in millionths, an exact integer. */
export type MicroUsd = number;

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d*))?$/;
const EXPONENT = /^([+-]?)(\d+)(?:\.(\d*))?[eE]([+-]?\d{1,3})$/;
const MAX_WHOLE_DIGITS = 9;
const SCALE = 6;
const POWERS_OF_TEN = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000] as const;

/**
 * Reads an amount of money (decisions §1): a decimal string or a JSON number, at most nine digits before the point
 * and, after rounding half to even, six behind it.
 *
 * @returns micro-USD (may be negative), or undefined where the value is no such amount.
 */
export function parseMoney(value: string | number): MicroUsd | undefined {
  if (typeof value === 'number') return readAny(String(value));
  return readPlain(value) ?? readAny(value.trim());
}

/**
 * The form that SDKs send, `0.001250`: unsigned, up to nine digits, a point, up to six digits. Ten times faster than
 * the general way.
 */
function readPlain(text: string): MicroUsd | undefined {
  const end = text.length;
  if (end > MAX_WHOLE_DIGITS + 1 + SCALE) return undefined;
  let micros = 0;
  let point = -1;
  for (let at = 0; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9) micros = micros * 10 + digit;
    else if (digit === -2 && point < 0 && at > 0) point = at;
    else return undefined;
  }
  const whole = point < 0 ? end : point;
  const weight = POWERS_OF_TEN[point < 0 ? SCALE : SCALE - (end - point - 1)];
  return whole === 0 || whole > MAX_WHOLE_DIGITS || weight === undefined ? undefined : micros * weight;
}

function readAny(text: string): MicroUsd | undefined {
  const parts = DECIMAL.exec(text) ?? expand(text);
  if (!parts) return undefined;
  const [, sign, rawWhole = '', fraction = ''] = parts;
  const whole = rawWhole.replace(/^0+(?=\d)/, '');
  if (whole.length > MAX_WHOLE_DIGITS) return undefined;
  const kept = Number(whole + fraction.slice(0, SCALE).padEnd(SCALE, '0'));
  const micros = kept + roundUp(kept, fraction.slice(SCALE));
  if (micros >= 10 ** (MAX_WHOLE_DIGITS + SCALE)) return undefined;
  return sign === '-' && micros !== 0 ? -micros : micros;
}

/** Micro-USD as the JSON number the API shows. */
export function moneyToNumber(micros: MicroUsd): number {
  return micros / 1e6;
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
