import { randomInt } from 'node:crypto';
import fc, { type IProperty, type Parameters } from 'fast-check';
import type { Test } from 'tap';

/** Fixed, so that results depend on the change and not on chance; `JACKDAW_TEST_SEED=random` explores. */
export const SEED = seedOf(process.env['JACKDAW_TEST_SEED'] ?? '1');

function seedOf(text: string): number {
  return text === 'random' ? randomInt(2 ** 31) : Number(text);
}

/** One assertion: the property holds; a failure prints counterexample and seed. */
export function holds<Values>(t: Test, property: IProperty<Values>, parameters?: Parameters<Values>): void {
  const found = fc.check(property, { seed: SEED, ...parameters });
  t.notOk(found.failed, found.failed ? (fc.defaultReportMessage(found) ?? 'the property fails') : 'it holds');
}

/**
 * One assertion against a real store: a check of generated values never throws.
 *
 * `JACKDAW_TEST_SEED=123 JACKDAW_TEST_RUNS=1000` repeats a failure or searches longer; `JACKDAW_TEST_TIME` is the limit in milliseconds.
 *
 * @param limits the number of runs and the milliseconds after which none starts: slow machines do fewer runs instead of failing
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
    // fast-check's time limit would leave a run that still uses the store.
    if (performance.now() > end) return;
    runs++;
    await check(...values);
  });
  const found = await fc.check(property, {
    numRuns: Number(JACKDAW_TEST_RUNS ?? limits.runs),
    seed: SEED,
  });
  // Seed and difference are in the assertion name, because short reports keep nothing else.
  const difference = `seed ${found.seed}: ${String(found.errorInstance).slice(0, 2000)}`;
  t.notOk(found.failed, found.failed ? `it never differs (${difference})` : 'it never differs');
  t.comment(`${runs} runs, seed ${found.seed}`);
  if (found.failed) t.comment(fc.defaultReportMessage(found) ?? '');
}

/** Like `strictSame` of plain JSON but throws, so that counterexamples can be shrunk. */
export function same(found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`found ${one}\ninstead of ${other}`);
}
