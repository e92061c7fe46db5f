import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import type { Status } from '../../../../src/component/status.js';
import { ApiCaller } from '../../../support/api-caller.js';
import { failSyncs } from '../../../support/failing-sync.js';
import { spawnDaemon } from '../../../support/process.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { anItem } from '../../../support/trace-batch.js';
import type { RemoteError } from '../remote-store.js';
import { RemoteStore } from '../remote-store.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 1000 };
const UNAVAILABLE = { code: 'storage_unavailable', retryable: true };
const NO_STRACE = 'strace is not here, or may not watch other processes';

/** The store files with a matching name. */
function filesOf(mainPath: string, name: RegExp): string[] {
  const directory = dirname(mainPath);
  return readdirSync(directory)
    .filter((file) => name.test(file))
    .map((file) => join(directory, file));
}

for (const [what, name] of [
  ['of a hot segment', /\.hot-\d+\.duckdb\.wal$/],
  ['of the cold file', /\.cold\.duckdb$/],
] as const) {
  void t.test(`reports a failed sync ${what} immediately and answers every call`, async (t) => {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    await opened.close();
    const store = await RemoteStore.open(t, opened.path, 60);
    let acknowledged = 0;
    const write = async (): Promise<void> => {
      await store.call('writer.traces', { tenant, items: [aTrace(3)] }, RECEIVED);
      acknowledged++;
    };
    for (let i = 0; i < 30; i++) await write();
    await store.call('settled');
    await write();
    const files = filesOf(opened.path, name);
    // The log of the cold file exists only during compaction.
    if (what === 'of the cold file') files.push(...files.map((path) => `${path}.wal`));
    t.ok(files.length > 0, files.map((path) => basename(path)).join());
    const heal = await failSyncs(t, store.pid, files);
    if (heal === null) {
      t.pass(NO_STRACE);
      return;
    }
    const statuses = async (): Promise<Status[]> => await store.call('statuses');
    let failure: unknown;
    for (let i = 0; i < 500 && (await statuses()).length === 0; i++) {
      await write().catch((error: unknown) => {
        failure = error;
      });
    }
    await heal();
    t.match(await statuses(), [
      { level: 'fatal', message: /DuckDB stopped after a disk or internal error.*restart the daemon/ },
    ]);
    t.equal((await statuses()).length, 1, 'reported once');
    t.match(
      (await store.call<string[]>('log')).join('\n'),
      /DuckDB stopped after a disk or internal error.*fsync failed/s,
    );
    if (failure !== undefined) t.match((failure as RemoteError).error, UNAVAILABLE);
    const calls = [write(), store.call('runs.list', tenant, { query: 'x' }, PAGE)];
    for (const outcome of await Promise.allSettled(calls))
      t.match(outcome, { reason: { error: UNAVAILABLE } });
    await store.close();
    await opened.start();
    const { count } = await opened.store.runs.list(tenant, {}, PAGE);
    // Rejected writes may still have reached the file.
    t.ok(count >= acknowledged, `${count} of ${acknowledged}`);
  });
}

void t.test('the daemon becomes unready and exits with 1; the next one has all data', async (t) => {
  const daemon = await spawnDaemon(t);
  const api = new ApiCaller(daemon.url, daemon.key);
  const send = async (): Promise<number> =>
    (await api.call('POST', '/traces/batch', { json: { traces: [anItem()] } })).status;
  t.equal(await send(), 200);
  t.equal((await fetch(`${daemon.healthUrl}/readyz`)).status, 200);
  const [main = ''] = readdirSync(daemon.directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /jackdaw\.duckdb$/.test(file),
  );
  const logs = filesOf(join(daemon.directory, main), /\.hot-\d+\.duckdb\.wal$/);
  const heal = await failSyncs(t, daemon.child.pid ?? 0, logs);
  if (heal === null) {
    t.pass(NO_STRACE);
    return;
  }
  t.equal(await send(), 503);
  await heal();
  const ready = await fetch(`${daemon.healthUrl}/readyz`).then(
    ({ status }) => status,
    () => 'closed',
  );
  t.not(ready, 200, String(ready));
  t.match(await daemon.exited, { code: 1 });
  t.match(daemon.stderr(), /fsync failed/);
  t.match(daemon.stderr(), /DuckDB stopped after a disk or internal error[^]*restart the daemon/);

  const again = await spawnDaemon(t, { directory: daemon.directory, key: daemon.key });
  const { count } = await new ApiCaller(again.url, again.key).get<{ count: number }>('/dashboard/traces');
  t.ok(count >= 1, `${count}`);
});
