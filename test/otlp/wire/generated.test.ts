import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { projectFolder, readProjectFile } from '../../support/project-file.js';

void t.test('the generated code matches proto/', async (t) => {
  const script = join(projectFolder(), 'proto/generate.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--print'], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const committed = readProjectFile('src/otlp/wire/generated/messages.ts');
  t.ok(stdout === committed, 'run npm run generate and commit the result');
});
