import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

const FOLDER = fileURLToPath(new URL('../api/', import.meta.url));
/** How long a file may take. */
export const API_FILE_S = 120;

/**
 * Runs files of the API's tests once more, each in a process of its own.
 *
 * @param files below `test/api`, without their endings
 * @param stores variables that tell them which stores to use
 */
export async function runApiFiles(
  t: Test,
  files: readonly string[],
  stores: NodeJS.ProcessEnv,
): Promise<void> {
  const env = { ...process.env, TAP_TIMEOUT: String(API_FILE_S), ...stores };
  for (const file of files)
    await t.spawn(process.execPath, [join(FOLDER, `${file}.test.js`)], {
      name: file,
      timeout: API_FILE_S * 1000,
      env,
    });
}

/**
 * The same in one process with one daemon, each test as a user of its own: a tenth of the time. For files whose tests see nothing but what
 * is their user's.
 */
export async function runApiFilesTogether(
  t: Test,
  files: readonly string[],
  stores: NodeJS.ProcessEnv,
): Promise<void> {
  const timeoutS = API_FILE_S + 10 * files.length;
  const main = fileURLToPath(new URL('./api-files-main.js', import.meta.url));
  await t.spawn(process.execPath, [main], {
    name: `${files.length} files with one daemon`,
    timeout: timeoutS * 1000,
    env: {
      ...process.env,
      TAP_TIMEOUT: String(timeoutS),
      JACKDAW_TEST_SHARED_API: '1',
      JACKDAW_TEST_API_FILES: files.map((file) => join(FOLDER, `${file}.test.js`)).join('\n'),
      ...stores,
    },
  });
}
