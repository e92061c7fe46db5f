import fc from 'fast-check';
import t from 'tap';
import {
  MONEY_PATTERN,
  MoneySum,
  moneyToNumber,
  moneyToText,
  MOST_NANO_USD,
  parseMoney,
  sumToNumber,
} from '../../src/signal/money.js';
import { holds } from '../support/property.js';

/** Reference implementation of `digits × 10^-scale`: big integers, rounded half to even. */
function oracle(digits: bigint, scale: number): bigint {
  if (scale <= 9) return digits * 10n ** BigInt(9 - scale);
  const unit = 10n ** BigInt(scale - 9);
  const kept = digits / unit;
  const twiceCut = (digits % unit) * 2n;
  const isUp = twiceCut > unit || (twiceCut === unit && kept % 2n === 1n);
  return isUp ? kept + 1n : kept;
}

const plain = (digits: bigint, scale: number): string => {
  const text = String(digits).padStart(scale + 1, '0');
  return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
};

void t.test('reads valid amounts', async (t) => {
  const cases: readonly (readonly [string | number, number])[] = [
    ['0', 0],
    ['0.000000', 0],
    [-0, 0],
    ['1', 1_000_000_000],
    ['0.001250', 1_250_000],
    ['0.00000002', 20],
    ['000000000000001.5', 1_500_000_000],
    ['0.0000000005', 0],
    ['0.0000000015', 2],
    ['0.0000000025', 2],
    ['0.00000000050000001', 1],
    ['0.00000000049999999', 0],
    ['999999.999999999', 999_999_999_999_999],
    ['999999.9999999994', 999_999_999_999_999],
    ['1e-9', 1],
    ['2E-8', 20],
    ['0E-9', 0],
    ['0001e-3', 1_000_000],
    ['0.0015e3', 1_500_000_000],
    ['1E2', 100_000_000_000],
    ['1.25e-3', 1_250_000],
    ['12.5e+1', 125_000_000_000],
    ['1e-400', 0],
    [0.1, 100_000_000],
    [0.1 + 0.2, 300_000_000],
    [1e-10, 0],
    [1.5e-9, 2],
    [123_456.123_456_789, 123_456_123_456_789],
  ];
  for (const [value, expected] of cases) t.equal(parseMoney(value), expected, String(value));
});

void t.test('rejects invalid amounts', async (t) => {
  const cases = [
    '',
    ' ',
    '.',
    '.5',
    '-',
    '-0',
    '-1.5',
    '+1.5',
    '+1.',
    '1.',
    '1.e3',
    '123456.',
    ' 1.5',
    '1.5 ',
    '\u00a01.5\u2003',
    '1.5\n',
    '+-1',
    '--1',
    '1,5',
    '1 000',
    '1_000',
    '1.2.3',
    '$1',
    '1 USD',
    '0x10',
    '1e',
    'e5',
    '1e1000',
    'NaN',
    'Infinity',
    '-Infinity',
    '١',
    '1000000',
    '999999.9999999995',
    '1e6',
    -1,
    -1e-12,
    NaN,
    Infinity,
    -Infinity,
    1e6,
    1e21,
    Number.MAX_VALUE,
  ];
  for (const value of cases) t.equal(parseMoney(value), undefined, JSON.stringify(value));
});

void t.test('rounds decimal texts of any scale half to even', async (t) => {
  holds(
    t,
    fc.property(
      fc
        .integer({ min: 0, max: 18 })
        .chain((scale) =>
          fc.tuple(fc.bigInt({ min: 0n, max: 10n ** BigInt(scale + 6) - 1n }), fc.constant(scale)),
        ),
      ([digits, scale]) => {
        const expected = oracle(digits, scale);
        const found = parseMoney(plain(digits, scale));
        return found === (expected >= 10n ** 15n ? undefined : Number(expected));
      },
    ),
    { numRuns: 5000 },
  );
});

void t.test('accepts texts below a million that match the pattern of openapi.json', async (t) => {
  const pattern = new RegExp(MONEY_PATTERN, 'u');
  const part = fc.constantFrom('', '0', '1', '.', '.5', '9', '+', '-', 'e', 'E-3', ' ', '\n', 'x', '٣');
  holds(
    t,
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const text = parts.join('');
      const value = parseMoney(text);
      if (value === undefined) return !pattern.test(text) || Number(text) > 999_999;
      return pattern.test(text) && Math.abs(value / 1e9 - Number(text)) < 1e-6;
    }),
    { numRuns: 2000 },
  );
});

void t.test('rounds halves to even', async (t) => {
  holds(
    t,
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 14n }), (kept) => {
      const found = parseMoney(plain(kept * 10n + 5n, 10));
      return found === Number(kept % 2n === 0n ? kept : kept + 1n);
    }),
  );
});

void t.test('an exponent equals the written-out digits', async (t) => {
  holds(
    t,
    fc.property(fc.nat(999_999), fc.integer({ min: -15, max: 2 }), (digits, exponent) => {
      const written = exponent < 0 ? plain(BigInt(digits), -exponent) : String(digits * 10 ** exponent);
      return parseMoney(`${digits}e${exponent}`) === parseMoney(written);
    }),
  );
});

void t.test('every amount survives a JSON number', async (t) => {
  holds(
    t,
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (nanos) => {
      const number = JSON.parse(JSON.stringify(moneyToNumber(nanos))) as number;
      return parseMoney(number) === nanos && parseMoney(moneyToText(nanos)) === nanos;
    }),
    { numRuns: 5000 },
  );
});

void t.test('reads a text of millions of digits quickly', async (t) => {
  t.equal(parseMoney('9'.repeat(5_000_000)), undefined);
  t.equal(parseMoney(`0.${'5'.repeat(5_000_000)}`), 555_555_556);
  t.equal(parseMoney(`${'0'.repeat(5_000_000)}1`), 1_000_000_000);
});

void t.test('writes amounts with six or more digits', async (t) => {
  t.equal(moneyToText(1_250_000), '0.001250');
  t.equal(moneyToText(20), '0.00000002');
  t.equal(moneyToText(0), '0.000000');
});

void t.test('sums stay exact and are rounded once', async (t) => {
  const amounts = fc.oneof(fc.integer({ min: 0, max: MOST_NANO_USD }), fc.constantFrom(0, 1, MOST_NANO_USD));
  holds(
    t,
    fc.property(fc.array(fc.tuple(amounts, fc.boolean()), { maxLength: 200 }), (steps) => {
      const sum = new MoneySum();
      let exact = 0n;
      for (const [amount, isAdded] of steps) {
        sum.add(amount, isAdded ? 1 : -1);
        exact += BigInt(isAdded ? amount : -amount);
      }
      return sum.toNumber() === sumToNumber(exact);
    }),
  );
  t.equal(sumToNumber(90n * 999_999_999_999_999n), 89_999_999.999_999_91);
  t.equal(sumToNumber(-1n), -1e-9);
  t.equal(sumToNumber(10n ** 38n), 1e29);
});
