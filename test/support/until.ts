import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves once a condition holds.
 *
 * @throws Error after a minute, which busy machines may need
 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`it never was so: ${what}`);
    await wait(1);
  }
}
