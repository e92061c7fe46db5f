import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/**
 * Runs the tests, each file in a process of its own: `node dist/test/main.js [PART OF A PATH …]`.
 *
 * `tap run` does the same, but first loads hooks into each process, and into every process and thread that one starts, to watch
 * the loading of modules. Nothing here asks for what they find out, and a store took twice as long to open with them.
 */

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const AT_ONCE = 2;
const TIMEOUT_S = 120;

const wanted = process.argv.slice(2);
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) throw new Error(`there is no test whose path holds ${wanted.join(' or ')}`);

t.jobs = AT_ONCE;
t.setTimeout(0);
for (const file of files) {
  // `env`, because what tap starts has one of those hooks in NODE_OPTIONS.
  const node = [
    `NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`,
    process.execPath,
    '--enable-source-maps',
  ];
  void t.spawn('env', [...node, join(FOLDER, file)], {
    name: file,
    at: null,
    stack: '',
    buffered: true,
    timeout: TIMEOUT_S * 1000,
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S) },
  });
}
