import { pathToFileURL } from 'node:url';
import t from 'tap';

/** Runs files of tests in this process, one behind the other: `api-files.ts`. Their tests are those of the one root that tap has. */
const files = (process.env['JACKDAW_TEST_API_FILES'] ?? '').split('\n');

// While it goes on the others wait, and the root, which ends by itself where nothing is left to do, does not end.
void t.test('all of them can be loaded', async (t) => {
  for (const file of files) await import(pathToFileURL(file).href);
  t.equal(new Set(files).size, files.length);
});
