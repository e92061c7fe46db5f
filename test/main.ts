import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { FILES_MAIN, FILES_OF_ONE_DAEMON, ONE_DAEMON, variablesOf } from './support/files-together.js';

/**
 * Runs tests: `node dist/test/main.js` runs the default tier, `node dist/test/main.js --wider` the wider one, and `node dist/test/main.js
 * PART …` all files whose path contains a part. Files share a process, a few at a time, because loading the program takes longer than
 * most of them; a file run alone, or with `@alone` in its text, gets its own process.
 *
 * `tap run` does the same but first loads hooks into every process and thread to watch module loading. Nothing here needs them, and they
 * double the time to open a store. `NODE_OPTIONS=--enable-source-maps` shows TypeScript lines in failures and costs a tenth of the CPU
 * time.
 */

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** One more than the cores: files wait a fifth of the time for disks, clocks and child processes. */
const AT_ONCE = availableParallelism() + 1;
const TIMEOUT_S = 120;
/** Folders whose files start many processes or take minutes: each file gets its own process. */
const ALONE = ['bench/', 'chaos/', 'cli/', 'scale/', 'transfer/'];
/** A file with its own timeout disables tap's, here as in its own process; this timeout ends what hangs. */
const LONGEST_MS = 600_000;

/**
 * Files of the wider tier besides those that start a server or kill processes: whole daemons, browsers, damaged and full disks, large
 * data, transfers.
 */
const WIDER = [
  'api/big-trace',
  'api/dropped-reads',
  'bench/',
  'chaos/',
  'cli/demo/',
  'cli/examples/',
  'cli/plugin-new',
  'cli/yaml-tests-of-daemons',
  'delivery/senders/webhook/receivers-kit',
  'exporters/otlp-http/sidecar',
  'exporters/webhook/memory',
  'http/large-bodies',
  'plugins/packed',
  'receivers/otlp/grpc-memory',
  'receivers/outbox/outbox-daemon',
  'scale/',
  'storage/duckdb/files/accidents',
  'storage/duckdb/files/damage',
  'storage/duckdb/files/dead-database',
  'storage/duckdb/files/full-',
  'storage/duckdb/files/log-damage',
  'storage/duckdb/files/torn-logs',
  'storage/duckdb/maintenance/quarantine',
  'storage/duckdb/read/large-',
  'storage/duckdb/write/back-pressure',
  'storage/duckdb/write/heavy-trace',
  'testing/builtin',
  'transfer/',
];
const IN_BROWSER = /support\/(browser|ui)\.js/;
/** The only walk through the pages in the default tier. */
const BROWSER_WALK = 'ui/walk.test.js';
/** Suites for every store: embedded stores in the default tier, servers in the wider one. */
const ON_EVERY_STORE = 'conformance/';

const [tier, wanted] = tierOf(process.argv.slice(2));
/** Files per process. A process costs seconds until the program is loaded and compiled; files of the wider tier take long anyway. */
const MOST_TOGETHER = tier === 'wider' ? 6 : 12;
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js') && isWanted(file))
  .sort();
if (files.length === 0) throw new Error(`there is no test whose path holds ${wanted.join(' or ')}`);

t.jobs = AT_ONCE;
t.setTimeout(0);
t.on('spawn', (file) => {
  file.on('process', (started) => {
    endLate(file.name, started);
  });
});
for (const { files: together, variables } of groups(files)) {
  const [first = '', ...others] = together;
  const seconds = TIMEOUT_S * together.length;
  // `env`, because processes started by tap have one of those hooks in NODE_OPTIONS.
  const node = [`NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`, process.execPath];
  const paths = together.map((file) => join(FOLDER, file));
  void t.spawn('env', [...node, ...(others.length === 0 ? [join(FOLDER, first)] : [FILES_MAIN, first])], {
    name: together.join(', '),
    at: null,
    stack: '',
    buffered: true,
    timeout: seconds * 1000,
    env: {
      ...process.env,
      ...(tier && { JACKDAW_TEST_TIER: tier }),
      ...variablesOf(paths, seconds),
      ...variables,
    },
  });
}

function tierOf(args: readonly string[]): [tier: 'default' | 'wider' | null, parts: readonly string[]] {
  if (args.length === 0) return ['default', []];
  return args[0] === '--wider' ? ['wider', args.slice(1)] : [null, args];
}

function isWanted(file: string): boolean {
  if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) return false;
  return tier === null || file.startsWith(ON_EVERY_STORE) || isWider(file) === (tier === 'wider');
}

function isWider(file: string): boolean {
  const text = textOf(file);
  return (
    WIDER.some((start) => file.startsWith(start)) ||
    /\bkill(ed)?\.test\.js$/.test(file) ||
    /\b(ClickHouse|Postgres)Server\.start\(/.test(text) ||
    (IN_BROWSER.test(text) && file !== BROWSER_WALK)
  );
}

function textOf(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8');
}

interface Group {
  readonly files: readonly string[];
  readonly variables: NodeJS.ProcessEnv;
}

/** @param all in order */
function groups(all: readonly string[]): Group[] {
  const ofOneDaemon = all.filter((file) => FILES_OF_ONE_DAEMON.includes(file));
  const found: Group[] = halves(ofOneDaemon).map((half) => ({ files: half, variables: ONE_DAEMON }));
  let open: string[] = [];
  for (const file of all) {
    if (ofOneDaemon.includes(file)) continue;
    if (isAlone(file)) found.push({ files: [file], variables: {} });
    else {
      if (open.length === 0 || open.length === MOST_TOGETHER) {
        open = [];
        found.push({ files: open, variables: {} });
      }
      open.push(file);
    }
  }
  // Files with their own process take longest: first, so that no core idles at the end.
  return found.sort((one, other) => Number(isLong(other)) - Number(isLong(one)));
}

function isLong({ files: together }: Group): boolean {
  return together.some(isAlone);
}

function halves(list: readonly string[]): (readonly string[])[] {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)].filter(({ length }) => length > 0);
}

function isAlone(file: string): boolean {
  const text = textOf(file);
  return ALONE.some((folder) => file.startsWith(folder)) || IN_BROWSER.test(text) || text.includes('@alone');
}

/** Kills what still runs after `LONGEST_MS` and prints the state of its threads, so that a hang in CI is visible. */
function endLate(name: string, started: ChildProcess): void {
  const late = setTimeout(() => {
    console.error(
      `# ${name} is killed after ${String(LONGEST_MS / 1000)} s. Its threads:\n${threadsOf(started.pid)}`,
    );
    started.kill('SIGKILL');
    // Also if a child process keeps the other end open.
    started.stdout?.destroy();
  }, LONGEST_MS);
  started.once('close', () => {
    clearTimeout(late);
  });
}

/** One line per thread from Linux's `/proc`: name, state, CPU ticks and the kernel function it waits in. */
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
