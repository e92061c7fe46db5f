import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readManifest } from '../../src/storage/transfer/manifest.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { launch, spawnDaemon } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';
import { anItem } from '../support/trace-batch.js';
import { TransferPlace } from '../support/transfer-place.js';
import { until } from '../support/until.js';

const REQUESTS = 150;
const AT_ONCE = 10;
const RUNS = 20;
const SPANS = 5;
/** A part of an import, and more than an empty store. */
const SOME_BYTES = 1024 * 1024;

t.setTimeout(120_000);
void t.test('a killed export or import leaves a state that the next call recognizes', async (t) => {
  const folder = testFolder(t);
  const first = await spawnDaemon(t);
  const api = new ApiCaller(first.url, first.key);
  const send = async (): Promise<void> => {
    await api.send(Array.from({ length: RUNS }, () => anItem({ spans: SPANS })));
  };
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, send));
  const directory = join(folder, 'export');
  const asked = api.call('POST', '/admin/export', { json: { directory } }).catch(() => null);
  await until('files are being written', () => existsSync(join(directory, 'telemetry', 'runs.parquet')));
  await first.stop('SIGKILL');
  t.equal(await asked, null, 'the request got no response');
  t.notOk(existsSync(join(directory, 'manifest.json')));

  const place = new TransferPlace(t);
  const half = await place.import(directory);
  t.match(half, { code: 2, stderr: /holds an export that is in progress or was interrupted.*export again/ });
  const files = readdirSync(first.directory).filter((name) => /^config-\d+\.yaml$/.test(name));
  const config = files.flatMap((name) => ['--config', join(first.directory, name)]);
  const exporting = async () => await runInProcess(['export', '--offline', '--to', directory, ...config]);
  t.match(await exporting(), { code: 1, stderr: /was interrupted.*remove the directory and export again/ });
  rmSync(directory, { recursive: true });
  const exported = await exporting();
  t.equal(exported.code, 0, exported.stderr);
  t.notOk(existsSync(join(directory, 'INCOMPLETE')));

  const importing = launch(['import', '--from', directory, ...place.files], {
    cwd: place.directory,
    // Temporary files are removed with the test.
    env: { TMPDIR: folder },
  });
  await until('a part is stored', () => sizeOf(place.directory) > SOME_BYTES);
  importing.child.kill('SIGKILL');
  t.match(await importing.exited, { signal: 'SIGKILL' });
  const second = await place.import(directory);
  t.match(second, { code: 2, stderr: /possibly from an interrupted import.*empty this one/ });
  for (const name of stored(place.directory)) rmSync(join(place.directory, name), { recursive: true });
  const third = await place.import(directory);
  t.equal(third.code, 0, third.stderr);
  const once = join(folder, 'once-more');
  t.equal((await place.exportOffline(once)).code, 0);
  t.equal(await rowsOf(once, /runs\.parquet$/), REQUESTS * RUNS);
  t.equal(await rowsOf(once, /spans-\d+\.parquet$/), REQUESTS * RUNS * SPANS);
});

async function rowsOf(directory: string, name: RegExp): Promise<number> {
  const files = (await readManifest(directory)).files.filter(({ path }) => name.test(path));
  return files.reduce((sum, { rows }) => sum + rows, 0);
}

/** The files of the telemetry store. */
function stored(directory: string): string[] {
  return readdirSync(directory).filter(
    (name) => name.startsWith('jackdaw.duckdb') || name.endsWith('.duckdb'),
  );
}

function sizeOf(directory: string): number {
  return readdirSync(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
