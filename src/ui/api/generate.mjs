// Generates the types of the API's responses from its OpenAPI description: npm run generate:api, after a build
// --print writes them to standard output, for the test that compares them with the committed file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format } from 'prettier';
import { startTestDaemon } from '../../../dist/test/support/daemon.js';

const TARGET = join(import.meta.dirname, 'generated/schema.ts');
const HEADER = '// Made from the API description by npm run generate:api.\n';

/** Left out: texts change more often than types, and each change would make the file stale. */
const TEXTS = new Set(['description', 'summary', 'title', 'example', 'examples']);

function withoutTexts(value, inProperties = false) {
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, each]) => inProperties || !TEXTS.has(key) || typeof each !== 'string')
      .map(([key, each]) => [key, withoutTexts(each, key === 'properties')]),
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
  const types = astToString(await openapiTS(withoutTexts(document), { alphabetize: true }));
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
