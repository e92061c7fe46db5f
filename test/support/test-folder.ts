import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** `testdir` empties the folder each time: what is open in it would lose its files. */
const folders = new WeakMap<object, string>();

/**
 * A folder of the test's own. It is removed when all teardowns are done, those that are added later included: `testdir` alone
 * removes it before them where no teardown was there at its first call, while daemons and stores still write into it.
 */
export function testFolder(t: Pick<Test, 'testdir' | 'teardown'>): string {
  const known = folders.get(t);
  if (known !== undefined) return mkdtempSync(join(known, 'another-'));
  t.teardown(() => undefined);
  const folder = t.testdir();
  folders.set(t, folder);
  return folder;
}
