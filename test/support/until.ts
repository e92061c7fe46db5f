import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves as soon as something is so.
 *
 * @throws Error after a minute, which machines may need that do much else: it never is
 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`it never was so: ${what}`);
    await wait(1);
  }
}
