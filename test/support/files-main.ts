import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t from 'tap';

/** Runs test files in this process in sequence: `files-together.ts`. Their tests belong to tap's single root. */
const files = (process.env['JACKDAW_TEST_FILES'] ?? '').split('\n');
const FOLDER = fileURLToPath(new URL('..', import.meta.url));

const last: (() => unknown)[] = [];
// A root with teardown work ends when idle, which it is while a file loads.
t.teardown = (done: () => unknown) => {
  last.unshift(done);
};
for (const file of files) {
  t.comment(relative(FOLDER, file));
  await import(pathToFileURL(file).href);
}
await t.test('runs all teardowns', async () => {
  for (const done of last) await done();
});
t.end();
