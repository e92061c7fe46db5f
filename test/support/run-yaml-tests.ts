import { join } from 'node:path';
import t from 'tap';
import { runInProcess } from './cli.js';
import { projectFolder } from './project-file.js';

/** Runs all YAML tests of a project folder as one test, because many start a daemon. */
export function runYamlTests(folder: string): void {
  t.setTimeout(300_000);
  void t.test(`the tests of all examples in ${folder} pass`, async (t) => {
    const { code, stdout, stderr } = await runInProcess(['test', join(projectFolder(), folder)]);
    t.equal(code, 0, code === 0 ? folder : stdout + stderr);
  });
}
