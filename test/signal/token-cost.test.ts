import fc from 'fast-check';
import t from 'tap';
import { costOf } from '../../src/signal/token-cost.js';
import type { Tokens } from '../../src/signal/call-tokens.js';
import { RATE_SCALE, type Price, type Rates } from '../../src/signal/price.js';
import { holds } from '../support/property.js';

const FREE: Price = {
  input: 0,
  output: 0,
  cached_read: 0,
  cached_write: 0,
  audio_input: 0,
  audio_output: 0,
  long: null,
};
const NONE: Tokens = {
  input: 0,
  output: 0,
  cachedRead: 0,
  cachedWrite: 0,
  cachedWrite5m: 0,
  cachedWrite1h: 0,
  audioInput: 0,
  audioOutput: 0,
};
const MOST = 10n ** 15n - 1n;

const rate = fc.oneof(fc.nat(100), fc.nat(100 * RATE_SCALE), fc.nat({ max: 10 ** 9 }), fc.constant(10 ** 12));
const rates = fc.record({
  input: rate,
  output: rate,
  cached_read: rate,
  cached_write: rate,
  cached_write_5m: rate,
  cached_write_1h: rate,
  audio_input: rate,
  audio_output: rate,
});
const price: fc.Arbitrary<Price> = fc
  .tuple(rates, fc.option(fc.tuple(rates, fc.integer({ min: 1, max: 300_000 })), { freq: 3 }))
  .map(([own, long]) => ({ ...own, long: long && { ...long[0], over: long[1] } }));
const count = fc.oneof(fc.nat(10), fc.nat(400_000), fc.nat({ max: 2 ** 31 }), fc.maxSafeNat());
const tokens: fc.Arbitrary<Tokens> = fc.record({
  input: count,
  output: count,
  cachedRead: fc.oneof(fc.constant(0), count),
  cachedWrite: fc.oneof(fc.constant(0), count),
  cachedWrite5m: fc.oneof(fc.constant(0), count),
  cachedWrite1h: fc.oneof(fc.constant(0), count),
  audioInput: fc.oneof(fc.constant(0), count),
  audioOutput: fc.oneof(fc.constant(0), count),
});

/** Reference definition in rational numbers: nano-USD as a fraction. */
function expected(of: Price, given: Tokens): bigint | undefined {
  const [input, output] = [BigInt(given.input), BigInt(given.output)];
  const [read, write] = [BigInt(given.cachedRead), BigInt(given.cachedWrite)];
  const plain = input > read + write ? input - read - write : 0n;
  const all = plain + read + write;
  const used: Rates = of.long !== null && all > BigInt(of.long.over) ? of.long : of;
  const least = (a: bigint, b: number): bigint => (a < BigInt(b) ? a : BigInt(b));
  const [audioInput, spoken] = [least(plain, given.audioInput), least(output, given.audioOutput)];
  const hour = least(write, given.cachedWrite1h);
  const minutes = least(write - hour, given.cachedWrite5m);
  const numerator =
    (plain - audioInput) * BigInt(used.input) +
    audioInput * BigInt(used.audio_input) +
    read * BigInt(used.cached_read) +
    hour * BigInt(used.cached_write_1h ?? used.cached_write) +
    minutes * BigInt(used.cached_write_5m ?? used.cached_write) +
    (write - hour - minutes) * BigInt(used.cached_write) +
    (output - spoken) * BigInt(used.output) +
    spoken * BigInt(used.audio_output);
  const denominator = 1000n;
  // The nearest integer, and the even one of two equally near.
  const below = numerator / denominator;
  const [down, up] = [numerator - below * denominator, (below + 1n) * denominator - numerator];
  const rounded = down < up || (down === up && below % 2n === 0n) ? below : below + 1n;
  return rounded > MOST ? undefined : rounded;
}

void t.test('the cost is exact, rounded once, and the sum of its parts', async (t) => {
  holds(
    t,
    fc.property(price, tokens, (of, given) => {
      const found = costOf(of, given);
      if ((found === undefined ? undefined : BigInt(found.total)) !== expected(of, given)) return false;
      const parts = Object.values(found?.parts ?? {});
      return found === undefined || parts.reduce((sum, part) => sum + part, 0) === found.total;
    }),
    { numRuns: 20_000 },
  );
});

void t.test('rounds halves to even, also beyond doubles', async (t) => {
  const half: Price = { ...FREE, input: 500 };
  const call = (input: number): Tokens => ({ ...NONE, input });
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
    t.equal(costOf(half, call(input))?.total, nanos, `${input} halves`);
});

void t.test('parts of the input have separate prices and are charged once', async (t) => {
  const sonnet: Price = {
    input: 3 * RATE_SCALE,
    output: 15 * RATE_SCALE,
    cached_read: 0.3 * RATE_SCALE,
    cached_write: 3.75 * RATE_SCALE,
    audio_input: 30 * RATE_SCALE,
    audio_output: 60 * RATE_SCALE,
    long: { ...FREE, over: 200_000, input: 6 * RATE_SCALE, output: 22.5 * RATE_SCALE },
  };
  const call = { ...NONE, input: 1000, output: 100 };
  t.equal(costOf(sonnet, call)?.total, 4_500_000);
  t.equal(
    costOf(sonnet, { ...call, cachedRead: 600, cachedWrite: 200 })?.total,
    2_100_000 + 180_000 + 750_000,
  );
  t.equal(costOf(sonnet, { ...call, cachedRead: 2000 })?.total, 2_100_000, 'input excluding caches');
  t.equal(costOf(sonnet, { ...call, input: 200_000, output: 0 })?.total, 600_000_000, 'at the threshold');
  t.equal(costOf(sonnet, { ...call, input: 200_001, output: 1 })?.total, 1_200_006_000 + 22_500, 'above it');
  t.equal(
    costOf(sonnet, { ...call, cachedRead: 150_000, cachedWrite: 50_001 })?.total,
    2_250_000,
    'caches count as input',
  );
});

void t.test('audio has separate prices and is not also charged as text', async (t) => {
  const price: Price = {
    ...FREE,
    input: 2 * RATE_SCALE,
    cached_read: RATE_SCALE,
    audio_input: 30 * RATE_SCALE,
    output: 10 * RATE_SCALE,
    audio_output: 60 * RATE_SCALE,
  };
  const call = { ...NONE, input: 100, cachedRead: 40, audioInput: 20, output: 50, audioOutput: 10 };
  t.strictSame(costOf(price, call), {
    total: 80_000 + 40_000 + 600_000 + 400_000 + 600_000,
    parts: {
      input: 80_000,
      cached_read: 40_000,
      audio_input: 600_000,
      output: 400_000,
      audio_output: 600_000,
    },
    isLong: false,
  });
  t.strictSame(
    costOf(price, { ...call, audioInput: 100, audioOutput: 100 })?.parts,
    { cached_read: 40_000, audio_input: 1_800_000, audio_output: 3_000_000 },
    'limited to the total',
  );
});

void t.test('a cost beyond the money range is missing', async (t) => {
  const dear: Price = { ...FREE, input: 10 ** 12 };
  const call = (input: number): Tokens => ({ ...NONE, input });
  t.equal(costOf(dear, call(999_999))?.total, 999_999_000_000_000);
  t.equal(costOf(dear, call(1_000_000))?.total, undefined);
  t.equal(costOf(dear, call(Number.MAX_SAFE_INTEGER))?.total, undefined);
});
