import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { runInProcess } from '../support/cli.js';
import { runCli } from '../support/process.js';
import { projectFolder } from '../support/project-file.js';
import { testFolder } from '../support/test-folder.js';

const run = promisify(execFile);
const TSC = join(projectFolder(), 'node_modules', 'typescript', 'bin', 'tsc');

const KINDS = ['receiver', 'processor', 'exporter', 'extension'] as const;

/** Writes a plugin and installs `jackdaw` in it. @returns its folder */
async function aPlugin(t: Test, kind: string, parent: string): Promise<string> {
  const { code, stdout } = await runCli(['plugin', 'new', `my-${kind}`, '--kind', kind], { cwd: parent });
  t.equal(code, 0);
  t.match(stdout, /cd my-.*\n {2}npm install .*\n {2}npm test\n/);
  const folder = join(parent, `my-${kind}`);
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  symlinkSync(projectFolder(), join(folder, 'node_modules', 'jackdaw'));
  symlinkSync(
    join(projectFolder(), 'node_modules', '@types', 'node'),
    join(folder, 'node_modules', '@types', 'node'),
  );
  return folder;
}

// Starts about twenty processes.
t.setTimeout(300_000);
const parent = testFolder(t);
for (const kind of KINDS)
  void t.test(`a new ${kind} passes its own test and has a valid configuration`, async (t) => {
    const folder = await aPlugin(t, kind, parent);
    // Nested test run: the variables of the outer runner would redirect its report.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(NODE_|TAP)/.test(name)),
    );
    const { stdout } = await run(process.execPath, ['--test'], { cwd: folder, env }).catch(
      (error: unknown) => error as { stdout: string },
    );
    t.match(stdout, /^# fail 0$/m, stdout);
    t.match(stdout, /^# pass [1-9]/m);
    const whole = join(projectFolder(), 'config.example.yaml');
    const graph = await runCli(['graph', '--config', whole, '--config', 'jackdaw.yaml'], { cwd: folder });
    t.equal(graph.code, 0, graph.stderr);
    const listed = await runCli(['components', '--config', 'jackdaw.yaml'], { cwd: folder });
    t.match(listed.stdout, new RegExp(`${kind} +my_${kind}`));
    t.match(readFileSync(join(folder, 'README.md'), 'utf8'), `plugins: [my-${kind}]`);
  });

// One compiler run for all plugins takes a quarter of the time; all have the same options.
void t.test('new plugins type-check', async (t) => {
  const configs = new Set<string>();
  for (const kind of KINDS) configs.add(readFileSync(join(parent, `my-${kind}`, 'tsconfig.json'), 'utf8'));
  t.equal(configs.size, 1, 'all share the same options');
  const all = {
    extends: './my-receiver/tsconfig.json',
    include: ['my-*/*.js'],
    exclude: ['**/node_modules'],
  };
  writeFileSync(join(parent, 'tsconfig.json'), JSON.stringify(all));
  const types = await run(process.execPath, [TSC, '-p', '.', '--listFiles'], { cwd: parent }).catch(
    (error: unknown) => error as { stdout: string },
  );
  t.notMatch(types.stdout, / error TS/, types.stdout);
  for (const kind of KINDS) t.match(types.stdout, `/my-${kind}/`, 'type-checked');
});

void t.test('rejects invalid arguments and overwrites nothing', async (t) => {
  const cwd = testFolder(t);
  mkdirSync(join(cwd, 'there'));
  const kind = ['--kind', 'processor'];
  const there = await runCli(['plugin', 'new', 'there', ...kind], { cwd });
  t.match(there, { code: 2, stderr: /there already exists: choose another name/ });
  for (const [args, expected] of [
    [['../out', ...kind], /"\.\.\/out" cannot be the name of a plugin/],
    [['My_Plugin', ...kind], /cannot be the name of a plugin.* such as my-plugin/],
    [['a'.repeat(61), ...kind], /cannot be the name/],
    [['-x', ...kind], /unknown option/],
    [['jackdaw', ...kind], /is the program itself/],
    [['mine'], /required option '--kind <kind>' not specified/],
    [
      ['mine', '--kind', 'procesor'],
      /argument 'procesor' is invalid. Allowed choices are receiver, processor/,
    ],
    [[...kind], /missing required argument 'name'/],
  ] as const) {
    const { code, stderr } = await runInProcess(['plugin', 'new', ...args]);
    t.match(stderr, expected, args.join(' '));
    t.equal(code, 2);
  }
  t.notOk(existsSync(join(cwd, 'mine')));
  const { code } = await runCli(['plugin', 'new', 'mine', ...kind, '--directory', 'some/where'], { cwd });
  t.equal(code, 0);
  t.ok(existsSync(join(cwd, 'some', 'where', 'plugin.js')));
});
