import { randomInt } from 'node:crypto';
import fc, { type IProperty, type Parameters } from 'fast-check';
import type { Test } from 'tap';

/** Fixed, so that a run of the tests says something about the change and not about chance; `JACKDAW_TEST_SEED=random` explores. */
export const SEED = seedOf(process.env['JACKDAW_TEST_SEED'] ?? '1');

function seedOf(text: string): number {
  return text === 'random' ? randomInt(2 ** 31) : Number(text);
}

/** One assertion of a test: the property holds; a failure prints the counterexample and the seed. */
export function holds<Values>(t: Test, property: IProperty<Values>, parameters?: Parameters<Values>): void {
  const found = fc.check(property, { seed: SEED, ...parameters });
  t.notOk(found.failed, found.failed ? (fc.defaultReportMessage(found) ?? 'the property fails') : 'it holds');
}

/**
 * One assertion of a test against a real store: a check of generated values never throws.
 *
 * `JACKDAW_TEST_SEED=123 JACKDAW_TEST_RUNS=1000` repeats a failure or searches longer; `JACKDAW_TEST_TIME` is the limit in milliseconds.
 *
 * @param limits how many runs there are, and the milliseconds after which none begins: a slow machine does fewer
 * instead of failing
 */
export async function neverDiffers<Values extends [unknown, ...unknown[]]>(
  t: Test,
  limits: { readonly runs: number; readonly ms: number },
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  check: (...values: Values) => Promise<void>,
): Promise<void> {
  const { JACKDAW_TEST_RUNS, JACKDAW_TEST_TIME } = process.env;
  const end = performance.now() + Number(JACKDAW_TEST_TIME ?? limits.ms);
  let runs = 0;
  const property = fc.asyncProperty<Values>(...arbitraries, async (...values) => {
    // Not fast-check's own time limit: it would leave a run behind that goes on using the store.
    if (performance.now() > end) return;
    runs++;
    await check(...values);
  });
  const found = await fc.check(property, {
    numRuns: Number(JACKDAW_TEST_RUNS ?? limits.runs),
    seed: SEED,
  });
  // The seed and the difference stand in the name of the assertion: short reports keep nothing else of a failure.
  const difference = `seed ${found.seed}: ${String(found.errorInstance).slice(0, 2000)}`;
  t.notOk(found.failed, found.failed ? `it never differs (${difference})` : 'it never differs');
  t.comment(`${runs} runs, seed ${found.seed}`);
  if (found.failed) t.comment(fc.defaultReportMessage(found) ?? '');
}

/** As `strictSame` of what is plain JSON, but thrown, so that a counterexample can be made smaller. */
export function same(found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`found ${one}\ninstead of ${other}`);
}
