import fc from 'fast-check';
import t from 'tap';
import {
  costOf,
  RATE_SCALE,
  type Price,
  type Rates,
  type Tokens,
} from '../../../src/processors/cost/token-cost.js';
import { holds } from '../../support/property.js';

const MOST = 10n ** 15n - 1n;

const rate = fc.oneof(fc.nat(100), fc.nat(100 * RATE_SCALE), fc.nat({ max: 10 ** 9 }), fc.constant(10 ** 12));
const rates = fc.record({ input: rate, output: rate, cacheRead: rate, cacheWrite: rate });
const price: fc.Arbitrary<Price> = fc
  .tuple(rates, fc.option(fc.tuple(rates, fc.integer({ min: 1, max: 300_000 })), { freq: 3 }))
  .map(([own, long]) => ({ ...own, long: long && { ...long[0], over: long[1] } }));
const count = fc.oneof(fc.nat(10), fc.nat(400_000), fc.nat({ max: 2 ** 31 }), fc.maxSafeNat());
const tokens: fc.Arbitrary<Tokens> = fc.record({
  input: count,
  output: count,
  cacheRead: fc.oneof(fc.constant(0), count),
  cacheWrite: fc.oneof(fc.constant(0), count),
});

/** The definition, in rational numbers: nano-USD as a fraction. */
function expected(of: Price, given: Tokens): bigint | undefined {
  const [input, output] = [BigInt(given.input), BigInt(given.output)];
  const [read, write] = [BigInt(given.cacheRead), BigInt(given.cacheWrite)];
  const plain = input > read + write ? input - read - write : 0n;
  const all = plain + read + write;
  const used: Rates = of.long !== null && all > BigInt(of.long.over) ? of.long : of;
  const numerator =
    plain * BigInt(used.input) +
    read * BigInt(used.cacheRead) +
    write * BigInt(used.cacheWrite) +
    output * BigInt(used.output);
  const denominator = 1000n;
  // The two integers around it; the nearer one, and of two as near the even one.
  const below = numerator / denominator;
  const [down, up] = [numerator - below * denominator, (below + 1n) * denominator - numerator];
  const rounded = down < up || (down === up && below % 2n === 0n) ? below : below + 1n;
  return rounded > MOST ? undefined : rounded;
}

void t.test('the cost is that of rational arithmetic, rounded once', async (t) => {
  holds(
    t,
    fc.property(price, tokens, (of, given) => {
      const found = costOf(of, given);
      return (found === undefined ? undefined : BigInt(found)) === expected(of, given);
    }),
    { numRuns: 20_000 },
  );
});

void t.test('halves go to the even neighbour, on both sides of what a double holds', async (t) => {
  const half: Price = { input: 500, output: 0, cacheRead: 0, cacheWrite: 0, long: null };
  const call = (input: number): Tokens => ({ input, output: 0, cacheRead: 0, cacheWrite: 0 });
  for (const [input, nanos] of [
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 2],
    [5, 2],
    [7, 4],
    [2 ** 40 + 1, 2 ** 39],
    [2 ** 40 + 3, 2 ** 39 + 2],
  ] as const)
    t.equal(costOf(half, call(input)), nanos, `${input} halves`);
});

void t.test('parts of the input have their own prices and are not paid twice', async (t) => {
  const sonnet: Price = {
    input: 3 * RATE_SCALE,
    output: 15 * RATE_SCALE,
    cacheRead: 0.3 * RATE_SCALE,
    cacheWrite: 3.75 * RATE_SCALE,
    long: { over: 200_000, input: 6 * RATE_SCALE, output: 22.5 * RATE_SCALE, cacheRead: 0, cacheWrite: 0 },
  };
  const call = { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0 };
  t.equal(costOf(sonnet, call), 4_500_000);
  t.equal(costOf(sonnet, { ...call, cacheRead: 600, cacheWrite: 200 }), 2_100_000 + 180_000 + 750_000);
  t.equal(costOf(sonnet, { ...call, cacheRead: 2000 }), 2_100_000, 'input that leaves caches out');
  t.equal(costOf(sonnet, { ...call, input: 200_000, output: 0 }), 600_000_000, 'at the threshold');
  t.equal(costOf(sonnet, { ...call, input: 200_001, output: 1 }), 1_200_006_000 + 22_500, 'above it');
  t.equal(
    costOf(sonnet, { ...call, cacheRead: 150_000, cacheWrite: 50_001 }),
    2_250_000,
    'caches count as input',
  );
});

void t.test('what no amount of money can be has no cost', async (t) => {
  const dear: Price = { input: 10 ** 12, output: 0, cacheRead: 0, cacheWrite: 0, long: null };
  const call = (input: number): Tokens => ({ input, output: 0, cacheRead: 0, cacheWrite: 0 });
  t.equal(costOf(dear, call(999_999)), 999_999_000_000_000);
  t.equal(costOf(dear, call(1_000_000)), undefined);
  t.equal(costOf(dear, call(Number.MAX_SAFE_INTEGER)), undefined);
});
