import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { invariant } from '../../src/signal/checked.js';
import { readManifest } from '../../src/storage/transfer/manifest.js';
import { aMovedStore, coldFile, damageColumn, flip } from '../storage/duckdb/damaged-store.js';
import { RemoteStore } from '../storage/duckdb/remote-store.js';
import { TestStore } from '../storage/duckdb/test-store.js';
import { runInProcess } from '../support/cli.js';
import { testFolder } from '../support/test-folder.js';
import { TransferPlace } from '../support/transfer-place.js';

const ALL = { offset: 0, limit: 1000 };

t.setTimeout(120_000);
void t.test('checks a store with damaged blocks and exports it without them', async (t) => {
  const place = new TransferPlace(t);
  const { opened, users, runs } = await aMovedStore(t, { path: join(place.directory, 'jackdaw.duckdb') });
  const [tenant = ''] = users;
  const email = invariant(await emailOf(opened, tenant), 'user');
  const check = (...args: string[]) => runInProcess(['store', 'check', ...place.files, ...args]);
  t.match(await check(), { code: 0, stdout: /Every row of \d+ files can be read\./ });

  await damageColumn(opened.path, 'payloads', 'lines', 0);
  await damageColumn(opened.path, 'spans', 'name', 1);
  await damageColumn(opened.path, 'traces', 'outcome', 0);
  const cold = coldFile(opened.path);
  const checked = await check();
  t.equal(checked.code, 1);
  t.ok(checked.stdout.includes(`${cold}: damaged`));
  const times = '2026-01-15T12:\\d\\d:\\d\\d[^ ]*Z to 2026-01-15T12:\\d\\d:\\d\\d[^ ]*Z';
  for (const table of ['payloads', 'spans', 'traces'])
    t.match(checked.stdout, new RegExp(`  ${table}: \\d+ rows cannot be read, ${times}, users .*${email}`));
  t.match(checked.stdout, /jackdaw\.duckdb: intact/);
  t.match(JSON.parse((await check('--json')).stdout), { is_intact: false });

  const target = join(testFolder(t), 'export');
  const exported = (...args: string[]) =>
    runInProcess(['export', '--offline', '--to', target, ...place.files, ...args]);
  t.match(await exported(), {
    code: 1,
    stderr: /block of the store is damaged.*Export with --skip-damaged.*was removed/,
  });
  t.notOk(existsSync(target));
  const skipped = await exported('--skip-damaged');
  t.equal(skipped.code, 0, skipped.stderr);
  t.match(skipped.stdout, /Not exported because of damaged blocks/);
  t.match(skipped.stdout, new RegExp(`  telemetry/payloads: \\d+ rows, ${times}, users .*${tenant}`));
  const { missing = [], files } = await readManifest(target);
  t.same([...new Set(missing.map(({ table }) => table))].sort(), ['payloads', 'runs', 'spans']);
  const rowsOf = (name: RegExp): number =>
    files.filter(({ path }) => name.test(path)).reduce((sum, { rows }) => sum + rows, 0);
  const lost = (name: string): number =>
    missing.filter(({ table }) => table === name).reduce((sum, { rows }) => sum + (rows ?? 0), 0);
  t.equal(rowsOf(/runs/) + lost('runs'), runs.length, 'every run is exported or listed');
  t.equal(rowsOf(/spans/) + lost('spans'), runs.length * 8, 'every span is exported or listed');
  t.ok(rowsOf(/spans/) > 0 && rowsOf(/runs/) > 0 && lost('payloads') > 0);

  const other = new TransferPlace(t);
  t.match(await other.import(target), { code: 0, stderr: /lacks rows from damaged blocks/ });
  const imported = await TestStore.open(t, { path: join(other.directory, 'jackdaw.duckdb') });
  const counts = await Promise.all(
    users.map(async (user) => (await imported.store.runs.list(user, {}, ALL)).count),
  );
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    rowsOf(/runs/),
    'an import accepts all exported runs',
  );

  flip(cold, 4096 + 16);
  flip(cold, 8192 + 16);
  t.match(await check(), { code: 1, stdout: /cold\.duckdb: damaged: .*checksum/ });
  rmSync(cold);
  t.match(await check(), { code: 1, stdout: /cold\.duckdb: damaged: the file is missing/ });
});

void t.test('a check names the process that has the store', async (t) => {
  const place = new TransferPlace(t);
  const opened = await TestStore.open(t, { path: join(place.directory, 'jackdaw.duckdb') });
  await opened.close();
  const { pid } = await RemoteStore.open(t, opened.path, 100);
  t.match(await runInProcess(['store', 'check', ...place.files]), {
    code: 1,
    stderr: new RegExp(`in use by process ${String(pid)}\\. Stop the daemon`),
  });
});

async function emailOf(opened: TestStore, id: string): Promise<string | undefined> {
  await opened.start();
  const email = (await opened.control.accounts.findUser(id))?.email;
  await opened.close();
  return email;
}
