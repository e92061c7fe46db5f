import { setTimeout as wait } from 'node:timers/promises';
import type { StillClock } from '../telemetry/still-clock.js';

/** How long a component may take for something that should take moments, in milliseconds of real time. */
const PATIENCE_MS = 20_000;

/** The clock of a component, and the time to wait for it. */
export interface Waiting {
  readonly clock: StillClock;
  readonly patienceMs?: number | undefined;
}
const STEP_MS = 5;
/** Work without timers ends within a few event loop turns. */
const QUICK_TURNS = 20;

/**
 * Waits for work while the component's clock follows the real one.
 *
 * @param what the beginning of a sentence: `its start`
 * @throws Error if the work does not end in time; errors of the work
 */
export async function within<T>(waiting: Waiting, what: string, work: Promise<T>): Promise<T> {
  const state = { hasEnded: false };
  const watched = work.finally(() => (state.hasEnded = true));
  // It may fail after the patience is over.
  watched.catch(() => undefined);
  await becomesTrue(waiting, `${what} did not end`, () => state.hasEnded);
  return watched;
}

/**
 * Waits for a condition while the component's clock follows the real one.
 *
 * @param otherwise the error text if the condition never holds
 */
export async function becomesTrue(
  { clock, patienceMs = PATIENCE_MS }: Waiting,
  otherwise: string,
  isSo: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  let passed = 0;
  for (let turn = 0; turn < QUICK_TURNS && !isSo(); turn++) await new Promise(setImmediate);
  while (!isSo()) {
    if (passed > patienceMs) throw new Error(`${otherwise} within ${patienceMs} ms`);
    await wait(STEP_MS);
    const elapsed = performance.now() - startedAt;
    clock.advance(elapsed - passed);
    passed = elapsed;
  }
}
