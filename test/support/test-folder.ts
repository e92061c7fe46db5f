import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** `testdir` empties the folder on each call, which would remove open files. */
const folders = new WeakMap<object, string>();

/**
 * A folder of the test. It is removed after all teardowns, including later ones; `testdir` alone may remove it first, while daemons and
 * stores still write into it.
 */
export function testFolder(t: Pick<Test, 'testdir' | 'teardown'>): string {
  const known = folders.get(t);
  if (known !== undefined) return mkdtempSync(join(known, 'another-'));
  t.teardown(() => undefined);
  const folder = t.testdir();
  folders.set(t, folder);
  return folder;
}
