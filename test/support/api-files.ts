import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { FILES_MAIN, FILES_OF_ONE_DAEMON, ONE_DAEMON, variablesOf } from './files-together.js';

const FOLDER = fileURLToPath(new URL('../api/', import.meta.url));
/** Timeout per file. */
export const API_FILE_S = 120;

/**
 * Runs API test files again, each in its own process.
 *
 * @param files below `test/api`, without extension
 * @param stores environment variables that select the stores
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

/** Runs files that one daemon suffices for, each test as its own user, in a tenth of the time. */
export async function runFilesOfOneDaemon(t: Test, stores: NodeJS.ProcessEnv): Promise<void> {
  const timeoutS = API_FILE_S + 10 * FILES_OF_ONE_DAEMON.length;
  const files = FILES_OF_ONE_DAEMON.map((file) => join(FOLDER, '..', file));
  await t.spawn(process.execPath, [FILES_MAIN, 'once-more'], {
    name: `${files.length} files with one daemon`,
    timeout: timeoutS * 1000,
    env: { ...process.env, ...variablesOf(files, timeoutS), ...ONE_DAEMON, ...stores },
  });
}
