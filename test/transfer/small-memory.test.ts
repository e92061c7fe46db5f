import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess, type CommandOutput } from '../support/cli.js';
import { startTestDaemon, type TestDaemon } from '../support/daemon.js';
import { testFolder } from '../support/test-folder.js';
import { anItem, type Item } from '../support/trace-batch.js';

/** One request and thus one commit, which an export does not split. */
const RUNS = 100;
/** Between 155 000 and 203 000 an export fits into ENOUGH only by spilling to disk. */
const NOISE_BYTES = 180_000;
/** The minimum of the configuration, and enough for an export that spills to disk. */
const TOO_LITTLE = '64MiB';
const ENOUGH = '128MiB';

/** An incompressible item. */
function aNoisyItem(): Item {
  const { trace, spans } = anItem({ spans: 1 });
  const noise = (): string => randomBytes(NOISE_BYTES).toString('base64');
  return { trace, spans: spans.map((span) => ({ ...span, input_data: { noise: noise() } })) };
}

interface FailedExport {
  readonly under_way: unknown;
  readonly failed: { readonly directory: string; readonly message: string } | null;
}

t.setTimeout(120_000);
void t.test('exports a store whose DuckDB has little memory', async (t) => {
  const directory = testFolder(t);
  const target = join(testFolder(t), 'export');
  const spilled = join(directory, 'jackdaw.duckdb.tmp');
  let key: string | undefined;

  const start = async (t: Test, memory: string): Promise<TestDaemon> => {
    const overlay = `extensions: { duckdb: { memory_limit: ${memory} } }\nreceivers: { trace_batch: { max_request_body_size: 64MiB } }`;
    const daemon = await startTestDaemon(t, { directory, overlay, ...(key !== undefined && { key }) });
    ({ key } = daemon);
    return daemon;
  };
  const exported = async ({ url, key }: TestDaemon): Promise<CommandOutput> =>
    await runInProcess(['export', '--to', target, '--url', url, '--key', key]);
  const failsWith = async (t: Test, daemon: TestDaemon, message: RegExp): Promise<void> => {
    const { code, stderr } = await exported(daemon);
    t.equal(code, 1);
    t.match(stderr, message);
    t.match(stderr, /The partial export was removed/);
    t.notOk(existsSync(target));
    const failure = await new ApiCaller(daemon.url, daemon.key).get<FailedExport>('/admin/export');
    t.match(failure, { under_way: null, failed: { directory: target, message } });
  };
  const NO_ROOM = new RegExp(`Not enough disk space for temporary data while writing ${target}`);

  await t.test('reports insufficient memory with a remedy', async (t) => {
    const daemon = await start(t, TOO_LITTLE);
    const api = new ApiCaller(daemon.url, daemon.key);
    await api.send(Array.from({ length: RUNS }, aNoisyItem));
    await failsWith(
      t,
      daemon,
      /needs more memory than the 64\.0 MiB that DuckDB may use.*extensions\.duckdb\.memory_limit.*restart the daemon/,
    );
    await api.send([anItem()]);
    t.notMatch(daemon.logs, /"state":"(degraded|recoverable)"/);
    await daemon.daemon.shutdown();
  });

  await t.test('continues once disk space is free that DuckDB did not find at first', async (t) => {
    rmSync(spilled, { recursive: true, force: true });
    // A file system without any space, in which no file can be created.
    symlinkSync('/proc', spilled);
    const daemon = await start(t, ENOUGH);
    t.match(await exported(daemon), { code: 1 });
    rmSync(spilled);
    mkdirSync(spilled);
    // This export still fails: DuckDB rechecks the disk space only after a failure.
    await failsWith(t, daemon, NO_ROOM);
    t.match(await exported(daemon), { code: 0, stderr: '' });
    await daemon.daemon.shutdown();
  });
});
