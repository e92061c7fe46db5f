import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { Database, MAIN } from '../../../../src/storage/duckdb/files/database.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { testFolder } from '../../../support/test-folder.js';
import { commitEnds } from '../log-files.js';
import { inFile } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

const CONTEXT = { receivedAt: NOON };
const ALL = { offset: 0, limit: 100 };
const PAGE_BYTES = 4096;

interface Stored {
  readonly opened: TestStore;
  readonly tenant: string;
  /** All store files as left by the previous process. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** A closed store in which each file kind has a log with a visible last commit. */
async function aClosedStore(t: Test): Promise<Stored> {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e9, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const write = async (spans: number): Promise<unknown> =>
    await opened.store.writer.traces({ tenant, items: [aTrace(spans)] }, CONTEXT);
  for (const spans of [1, 2, 3]) await write(spans);
  await opened.reopen();
  await opened.store.settled();
  for (const spans of [1, 2, 300]) await write(spans);
  await opened.close();
  for (const statement of ['UPDATE moved SET segment = segment', 'DELETE FROM traces'])
    await inFile(opened.path, /^cold/, statement);
  return { opened, tenant, files: new Map(pathsOf(opened).map((path) => [path, readFileSync(path)])) };
}

function pathsOf({ path }: TestStore): string[] {
  return readdirSync(dirname(path)).map((name) => join(dirname(path), name));
}

/** Restores all files. */
function restore({ opened, files }: Stored): void {
  for (const path of pathsOf(opened)) rmSync(path, { recursive: true });
  for (const [path, bytes] of files) writeFileSync(path, bytes);
}

function logOf({ files }: Stored, part: RegExp): readonly [string, Buffer] {
  const found = [...files].filter(([path]) => path.endsWith('.wal') && part.test(path));
  return found.reduce((one, other) => (other[1].length > one[1].length ? other : one));
}

const LOGS = { cold: /\.cold\./, hot: /\.hot-/ } as const;

/** Missing parts of the next commit leave the last one intact. */
const UNWRITTEN = 'only the length of the next commit was written';

const LAST = 'a page within the last commit is missing';

/** Log states after a crash, each given the start of the last commit. The last three run on all files. */
const TEARS: Readonly<Record<string, (log: Buffer, last: number) => Buffer>> = {
  'the last byte is missing': (log) => log.subarray(0, -1),
  'the log ends within the length of an entry': (log, last) => log.subarray(0, last + 5),
  'the last commit is zeros': (log, last) => Buffer.from(log).fill(0, last),
  'the log ends in zeros': (log, last) =>
    Buffer.concat([log.subarray(0, last + 30), Buffer.alloc(PAGE_BYTES)]),
  [UNWRITTEN]: (log) => Buffer.concat([log, Buffer.alloc(2 * PAGE_BYTES)]),
  'the log ends within the last commit': (log, last) =>
    log.subarray(0, last + Math.floor((log.length - last) / 2)),
  [LAST]: (log, last) => {
    const page = Math.ceil(last / PAGE_BYTES) * PAGE_BYTES;
    if (page + 2 * PAGE_BYTES < log.length) return Buffer.from(log).fill(0, page, page + PAGE_BYTES);
    // For a smaller commit: one of its sectors.
    return Buffer.from(log).fill(0, last, Math.min(log.length, Math.floor(last / 512 + 1) * 512));
  },
};

for (const [which, part] of Object.entries(LOGS)) {
  void t.test(`drops a torn commit of the ${which} log at startup and rejects a damaged log`, async (t) => {
    const stored = await aClosedStore(t);
    const { opened, tenant } = stored;
    const [path, log] = logOf(stored, part);
    const ends = commitEnds(log);
    const last = ends.at(-2) ?? 8;
    t.equal(ends.at(-1), log.length);
    await opened.start();
    const whole = await shownOf(stored);
    await opened.close();
    let before: unknown;
    for (const [name, tear] of Object.entries(TEARS).slice(which === 'hot' ? 0 : -3)) {
      restore(stored);
      const torn = tear(log, last);
      writeFileSync(path, torn);
      opened.statuses.length = 0;
      opened.settings.logger.lines.length = 0;
      await opened.start();
      t.same(opened.statuses, [], `${name}: no problem is reported`);
      const shown = await shownOf(stored);
      if (name === UNWRITTEN) t.same(shown, whole, name);
      else t.notSame(shown, whole, `${name}: the last commit is missing`);
      t.ok(
        opened.settings.logger.lines.some(
          (line) => line.includes(path) && line.includes('Removed an incomplete commit'),
        ),
        'the removal is logged',
      );
      await opened.store.writer.traces({ tenant, items: [aTrace(1)] }, CONTEXT);
      if (name === LAST) await opened.reopen();
      t.equal((await shownOf(stored)).runs, shown.runs + 1, 'later writes are stored');
      await opened.close();
      before = shown;
    }
    if (which !== 'hot') await isRefused(t, stored, [path, log], before);
  });
}

async function shownOf({ opened: { store }, tenant }: Stored) {
  await store.settled();
  return {
    runs: (await store.runs.list(tenant, {}, ALL)).items.length,
  };
}

/** A damaged log of a file that cannot be quarantined. */
async function isRefused(
  t: Test,
  stored: Stored,
  [path, log]: readonly [string, Buffer],
  before: unknown,
): Promise<void> {
  const { opened } = stored;
  restore(stored);
  // The first entry of the last commit.
  const end = commitEnds(log).at(-2) ?? 8;
  const damaged = Buffer.from(log).fill(0x5a, end, end + 16);
  writeFileSync(path, damaged);
  await t.rejects(opened.start(), {
    name: 'StoreOpenError',
    message: `The log ${path} is damaged at byte ${end}, and later commits would be lost. Restore an intact copy; to continue without those commits, truncate the log (truncate -s ${end} ${path}).`,
  });
  t.ok(readFileSync(path).equals(damaged), 'the log is unchanged');
  // Damage that makes DuckDB abort the process.
  writeFileSync(path, Buffer.from(log).fill(0, 2, 3));
  await t.rejects(opened.start(), { name: 'StoreOpenError', message: /damaged at byte 0/ });
  writeFileSync(path, damaged);
  truncateSync(path, end);
  await opened.start();
  t.same(await shownOf(stored), before, 'once truncated, it is read up to there');
  await opened.close();
}

void t.test('truncates the log of the main file while holding the file lock', async (t) => {
  const options = { path: join(testFolder(t), 'jackdaw.duckdb'), memoryLimit: '256MiB', threads: 1 };
  const database = await Database.open(options);
  const connection = await database.connect();
  await connection.run(`CREATE TABLE ${MAIN}.main.t (a VARCHAR)`);
  await connection.run(`INSERT INTO ${MAIN}.main.t VALUES (repeat('x', 5000))`);
  database.close();
  const path = `${options.path}.wal`;
  const log = readFileSync(path);
  const module = new URL('../../../../src/storage/duckdb/files/database.js', import.meta.url).href;
  const script = `const { Database } = await import('${module}'); (await Database.open(${JSON.stringify(options)})).close();`;
  for (const [name, torn] of Object.entries({
    'the last byte is missing': log.subarray(0, -1),
    'a page that is not there makes DuckDB refuse it': Buffer.from(log).fill(0, PAGE_BYTES, PAGE_BYTES + 512),
  })) {
    writeFileSync(path, torn);
    const others: string[] = [];
    const warn = (): void => {
      const other = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
      others.push(other.stderr);
    };
    (await Database.open(options, { warn })).close();
    t.equal(others.length, 1, name);
    t.match(others[0], new RegExp(`is in use by process ${process.pid}`), name);
  }
  t.same(readdirSync(dirname(path)).sort(), ['jackdaw.duckdb', 'jackdaw.duckdb.wal']);
});
