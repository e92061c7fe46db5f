import { fileURLToPath } from 'node:url';

/**
 * Runs test files in one process: `files-main.ts`. Its argument is unique among concurrent processes and part of the names of tap's test
 * folders.
 */
export const FILES_MAIN = fileURLToPath(new URL('./files-main.js', import.meta.url));

/** @param files paths @param seconds timeout for all of them @returns variables for the process */
export function variablesOf(files: readonly string[], seconds: number): NodeJS.ProcessEnv {
  return { TAP_TIMEOUT: String(seconds), JACKDAW_TEST_FILES: files.join('\n') };
}

/** Test files whose tests see only the data of their user, so that they can share one daemon. */
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
]
  .map((file) => `api/${file}.test.js`)
  .concat('extensions/mcp/mcp.test.js');

/** Enables the shared daemon. */
export const ONE_DAEMON: NodeJS.ProcessEnv = { JACKDAW_TEST_SHARED_API: '1' };
