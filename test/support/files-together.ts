import { fileURLToPath } from 'node:url';

/**
 * Runs files of tests in one process: `files-main.ts`. Its argument, which no other process at the same time has, is in the names of the
 * folders that tap makes for its tests.
 */
export const FILES_MAIN = fileURLToPath(new URL('./files-main.js', import.meta.url));

/** @param files their paths @param seconds that they may take together @returns variables for the process */
export function variablesOf(files: readonly string[], seconds: number): NodeJS.ProcessEnv {
  return { TAP_TIMEOUT: String(seconds), JACKDAW_TEST_FILES: files.join('\n') };
}

/** Files of the API's tests whose tests see nothing but what is their user's, so that all of them can be asked of one daemon. */
export const FILES_OF_ONE_DAEMON = [
  'long-integers',
  'tenants',
  'resources/agents',
  'resources/log-facets',
  'resources/logged-events',
  'resources/logs',
  'resources/metric-series',
  'resources/metrics',
  'resources/models',
  'resources/prompt-usage',
  'resources/run-list',
  'resources/run-series',
  'resources/service-map',
  'resources/sessions',
  'resources/span-detail',
  'resources/duplicate-calls',
  'resources/trace-spans',
  'resources/traces',
].map((file) => `api/${file}.test.js`);

/** Asks for it. */
export const ONE_DAEMON: NodeJS.ProcessEnv = { JACKDAW_TEST_SHARED_API: '1' };
