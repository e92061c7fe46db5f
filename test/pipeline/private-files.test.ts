import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { spawnDaemon } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';
import { anItem } from '../support/trace-batch.js';
import { until } from '../support/until.js';

/** Files below a folder that other users could access. */
function openToOthers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    // The test owns the configuration. A segment may have been moved meanwhile.
    (name) =>
      !name.endsWith('.yaml') &&
      ((statSync(join(folder, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
}

void t.test('all files of a daemon are private, regardless of the umask', async (t) => {
  const folder = testFolder(t);
  const directory = join(folder, 'deep', 'store');
  const path = join(folder, 'out', 'telemetry.jsonl');
  const overlay = `extensions: { duckdb: { path: ${JSON.stringify(join(directory, 'jackdaw.duckdb'))} }, sqlite: { path: ${JSON.stringify(join(directory, 'control.db'))} } }
exporters: { file: { path: ${JSON.stringify(path)}, flush_interval: 0s } }
service:
  pipelines:
    traces: { receivers: [trace_batch, otlp], processors: [validation], exporters: [storage, file] }
`;
  // Child processes inherit it.
  const before = process.umask(0);
  t.teardown(() => process.umask(before));
  const start = async () => await spawnDaemon(t, { directory: folder, overlay, generatesKey: true });
  const send = async ({ url }: { readonly url: string }): Promise<number> => {
    const key = readFileSync(join(directory, 'initial-api-key'), 'utf8').trim();
    const { status } = await fetch(`${url}/api/v1/traces/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ traces: [anItem()] }),
    });
    return status;
  };
  const first = await start();
  t.equal(await send(first), 200);
  await until('the exporter has written', () => statSync(path, { throwIfNoEntry: false })?.size !== 0);
  const written = readdirSync(directory);
  for (const part of [/^jackdaw\.duckdb$/, /\.hot-|\.cold\./])
    t.ok(
      written.some((name) => part.test(name)),
      `${String(part)} exists`,
    );
  t.strictSame(openToOthers(folder), [], 'while it runs');
  await first.stop();
  t.strictSame(openToOthers(folder), [], 'after the stop');

  // As restored by a backup.
  const store = readdirSync(directory).filter((name) => name.endsWith('.duckdb'));
  for (const name of store) chmodSync(join(directory, name), 0o644);
  chmodSync(path, 0o640);
  mkdirSync(join(directory, 'others'));
  writeFileSync(join(directory, 'others', 'jackdaw.duckdb'), '', { mode: 0o644 });
  const second = await start();
  t.match(second.stderr(), /jackdaw\.duckdb.*Removed access of other users to the files of the store/);
  t.match(second.stderr(), /Other users may read or write this file; prevent that with chmod 600/);
  t.equal(await send(second), 200);
  t.strictSame(
    openToOthers(folder).sort(),
    ['deep/store/others', 'deep/store/others/jackdaw.duckdb', 'out/telemetry.jsonl'],
    'foreign files and files readable on purpose are unchanged',
  );
  await second.stop();
});
