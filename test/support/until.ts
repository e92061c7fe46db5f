import { setTimeout as wait } from 'node:timers/promises';

/** Limits how late a slow check notices a change. */
const LONGEST_PAUSE_MS = 100;

/**
 * Resolves once a condition holds. A check may be a request to a daemon, so pauses are longer than checks: polling does not slow down
 * the work that it waits for.
 *
 * @throws Error after a minute, which busy machines may need
 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const start = performance.now();
    if (await isSo()) return;
    const now = performance.now();
    if (now > end) throw new Error(`it never was so: ${what}`);
    await wait(Math.min(1 + 3 * (now - start), LONGEST_PAUSE_MS));
  }
}
