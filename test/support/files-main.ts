import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import t from 'tap';

/** Runs files of tests in this process, one behind the other: `files-together.ts`. Their tests are those of the one root that tap has. */
const files = (process.env['JACKDAW_TEST_FILES'] ?? '').split('\n');
const FOLDER = fileURLToPath(new URL('..', import.meta.url));

const last: (() => unknown)[] = [];
// Once the root has something to do at its end it ends where it is idle, which it is while a file is loaded.
t.teardown = (done: () => unknown) => {
  last.unshift(done);
};
for (const file of files) {
  t.comment(relative(FOLDER, file));
  await import(pathToFileURL(file).href);
}
await t.test('all of it ends', async () => {
  for (const done of last) await done();
});
t.end();
