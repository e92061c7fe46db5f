import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { PAGE_BYTES } from '../../../../src/storage/duckdb/index/id-file.js';
import { aTrace, NOON } from '../../../support/run-records.js';
import { testFolder } from '../../../support/test-folder.js';
import { TestStore } from '../test-store.js';

void t.test(
  'finds traces by id and detects duplicates regardless of damaged or missing id files',
  async (t) => {
    const opened = await TestStore.open(t);
    const user = await opened.addUser();
    const traces = Array.from({ length: 200 }, () => aTrace(1));
    for (let from = 0; from < traces.length; from += 20) {
      const items = traces.slice(from, from + 20);
      await opened.store.writer.traces({ tenant: user, items }, { receivedAt: NOON });
    }
    const check = async (): Promise<void> => {
      // Repeating all writes changes nothing.
      await opened.store.writer.traces({ tenant: user, items: traces }, { receivedAt: NOON });
      const { count } = await opened.store.runs.list(user, {}, { offset: 0, limit: 1 });
      t.equal(count, traces.length);
      for (const { trace } of traces) {
        const found = await opened.store.runs.read(user, trace.trace_id);
        if (found?.span_count !== 1) t.fail(`${trace.trace_id} is not found as it was stored`);
      }
    };
    const files = (): string[] => {
      const directory = dirname(opened.path);
      return readdirSync(directory)
        .filter((name) => /\.traces-\d+-\d+\.ids$/.test(name))
        .map((name) => join(directory, name));
    };
    await opened.reopen();
    t.ok(files().length > 0, 'ids are in files');
    await check();

    await opened.reopen();
    t.notMatch(opened.settings.logger.lines, /id index/, 'valid files are used');
    await check();

    await opened.close();
    // Only while closed, since an open store merges and removes files.
    for (const path of files()) {
      t.equal(statSync(path).mode & 0o777, 0o600);
      const bytes = readFileSync(path);
      // The last page holds the file header; lookups find damage in the pages with ids.
      for (let at = 0; at < bytes.length - PAGE_BYTES; at += PAGE_BYTES)
        bytes[at + 5] = (bytes[at + 5] ?? 0) ^ 255;
      writeFileSync(path, bytes);
    }
    await opened.start();
    await check();
    t.match(opened.settings.logger.lines, /id index/);

    await opened.close();
    for (const path of files()) rmSync(path);
    await opened.start();
    await check();
  },
);

void t.test('ignores id files that are newer than the tables', async (t) => {
  const folder = testFolder(t);
  const [directory, backup] = [join(folder, 'store'), join(folder, 'backup')];
  const opened = await TestStore.open(t, { path: join(directory, 'jackdaw.duckdb') });
  const user = await opened.addUser();
  const write = async (): Promise<void> => {
    const items = Array.from({ length: 100 }, () => aTrace(1));
    await opened.store.writer.traces({ tenant: user, items }, { receivedAt: NOON });
  };
  for (let i = 0; i < 3; i++) await write();
  await opened.close();
  cpSync(directory, backup, { recursive: true });
  await opened.start();
  for (let i = 0; i < 6; i++) await write();
  await opened.reopen();
  await opened.close();
  // Restores the databases but not the id files.
  for (const name of readdirSync(directory)) if (!name.endsWith('.ids')) rmSync(join(directory, name));
  for (const name of readdirSync(backup)) {
    if (!name.endsWith('.ids')) copyFileSync(join(backup, name), join(directory, name));
  }
  await opened.start();
  const trace = aTrace(2);
  await opened.store.writer.traces({ tenant: user, items: [trace] }, { receivedAt: NOON });
  await opened.reopen();
  t.equal((await opened.store.runs.read(user, trace.trace.trace_id))?.span_count, 2);
  t.equal((await opened.store.runs.list(user, {}, { offset: 0, limit: 1 })).count, 301);
});
