// Writes the types of the API's answers from its own description: npm run generate:api, after a build
// With --print they go to standard output, for the test that compares them with what is committed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format } from 'prettier';
import { startTestDaemon } from '../../../dist/test/support/daemon.js';

const TARGET = join(import.meta.dirname, 'generated/schema.ts');
const HEADER = '// Made from the API description by npm run generate:api.\n';

/** Words for people change more often than types, and would make the file stale each time. */
const WORDS = new Set(['description', 'summary', 'title', 'example', 'examples']);

function withoutWords(value, inProperties = false) {
  if (Array.isArray(value)) return value.map((item) => withoutWords(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, each]) => inProperties || !WORDS.has(key) || typeof each !== 'string')
      .map(([key, each]) => [key, withoutWords(each, key === 'properties')]),
  );
}

const directory = mkdtempSync(join(tmpdir(), 'jackdaw-api-'));
const endings = [];
try {
  const { url } = await startTestDaemon(
    { testdir: () => directory, teardown: (end) => endings.push(end) },
    { directory },
  );
  const document = await (await fetch(`${url}/api/v1/openapi.json`)).json();
  const types = astToString(await openapiTS(withoutWords(document), { alphabetize: true }));
  const generated = await format(HEADER + types, {
    parser: 'typescript',
    singleQuote: true,
    printWidth: 110,
  });
  if (process.argv.includes('--print')) process.stdout.write(generated);
  else writeFileSync(TARGET, generated);
} finally {
  for (const end of endings) await end();
  rmSync(directory, { recursive: true, force: true });
}
