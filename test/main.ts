import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/**
 * Runs the tests, each file in a process of its own: `node dist/test/main.js [PART OF A PATH …]`.
 *
 * `tap run` does the same, but first loads hooks into each process, and into every process and thread that one starts, to watch
 * the loading of modules. Nothing here asks for what they find out, and a store took twice as long to open with them.
 * `NODE_OPTIONS=--enable-source-maps` shows lines of the TypeScript files in failures; it costs a tenth of the processor time.
 */

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** One more than there are cores: a fifth of the time a file waits, for disks, clocks and processes that it started. */
const AT_ONCE = availableParallelism() + 1;
const TIMEOUT_S = 120;
/** A file that sets a time of its own takes tap's away, here as in its own process: then this one ends what hangs. */
const LONGEST_MS = 360_000;

const wanted = process.argv.slice(2);
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) throw new Error(`there is no test whose path holds ${wanted.join(' or ')}`);

t.jobs = AT_ONCE;
t.setTimeout(0);
t.on('spawn', (file) => {
  file.on('process', (started) => {
    endLate(file.name, started);
  });
});
for (const file of files) {
  // `env`, because what tap starts has one of those hooks in NODE_OPTIONS.
  const node = [`NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`, process.execPath];
  void t.spawn('env', [...node, join(FOLDER, file)], {
    name: file,
    at: null,
    stack: '',
    buffered: true,
    timeout: TIMEOUT_S * 1000,
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S) },
  });
}

/** Kills what still runs after `LONGEST_MS`, and says where its threads were: a hang in CI is seen by nobody. */
function endLate(name: string, started: ChildProcess): void {
  const late = setTimeout(() => {
    console.error(
      `# ${name} is killed after ${String(LONGEST_MS / 1000)} s. Its threads:\n${threadsOf(started.pid)}`,
    );
    started.kill('SIGKILL');
    // Also where a process that it started holds the other end.
    started.stdout?.destroy();
  }, LONGEST_MS);
  started.once('close', () => {
    clearTimeout(late);
  });
}

/** A line for each thread, from Linux's `/proc`: its name, state, CPU ticks, and where in the kernel it waits. */
function threadsOf(pid: number | undefined): string {
  const tasks = `/proc/${String(pid)}/task`;
  try {
    return readdirSync(tasks)
      .map((task) => {
        const [, name, rest] = /\((.*)\) (.*)/.exec(readFileSync(join(tasks, task, 'stat'), 'utf8')) ?? [];
        const fields = rest?.split(' ') ?? [];
        const waits = readFileSync(join(tasks, task, 'wchan'), 'utf8');
        return `#   ${name ?? task}: ${fields[0] ?? '?'}, ${fields[11] ?? '?'} ticks, ${waits}`;
      })
      .join('\n');
  } catch (error) {
    return `#   unknown: ${String(error)}`;
  }
}
