import type { Test } from 'tap';

/**
 * A folder of the test's own. It is removed when all teardowns are done, those that are added later included: `testdir` alone
 * removes it before them where no teardown was there at its first call, while daemons and stores still write into it.
 */
export function testFolder(t: Pick<Test, 'testdir' | 'teardown'>): string {
  t.teardown(() => undefined);
  return t.testdir();
}
