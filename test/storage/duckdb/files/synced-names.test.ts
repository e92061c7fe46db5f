import { dirname } from 'node:path';
import t from 'tap';
import { aTrace, NOON } from '../../../support/run-records.js';
import { watchCalls } from '../../../support/watched-calls.js';
import { RemoteStore } from '../remote-store.js';
import { TestStore } from '../test-store.js';

const NO_STRACE = 'strace is not here, or may not watch other processes';

void t.test('names of files are on the disk before anything depends on them', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.close();
  const store = await RemoteStore.open(t, opened.path, 20);
  const watched = await watchCalls(t, store.pid, 'fsync,unlink,rename');
  if (watched === null) {
    t.pass(NO_STRACE);
    return;
  }
  const receivedAt = NOON;
  for (let i = 0; i < 20; i++)
    await store.call('writer.traces', { tenant, items: [aTrace(3)] }, { receivedAt });
  await store.call('settled');
  await store.close();
  const lines = await watched();

  const syncs = syncsOf(lines, dirname(opened.path));
  const places = (pattern: RegExp): number[] => lines.flatMap((line, i) => (pattern.test(line) ? [i] : []));
  // Of those that were written to meanwhile.
  const removed = places(/unlink\(.*\.hot-\d+\.duckdb"/).filter((at) => {
    const name = /\.hot-\d+\.duckdb/.exec(lines[at] ?? '')?.[0] ?? '';
    return lines.some((line) => line.includes('fsync(') && line.includes(`${name}.wal>`));
  });
  t.ok(removed.length > 0, 'segments are moved');
  const log = lines.findIndex((line) => /fsync\(.*\.cold\.duckdb\.wal>/.test(line));
  for (const at of removed) {
    const sync = syncs.findLast((place) => place < at) ?? -1;
    t.ok(log >= 0 && sync > log, 'what took the rows of a segment has its name before the segment goes');
  }
  const made = new Set(lines.flatMap((line) => /fsync\(.*(\.hot-\d+)\.duckdb>/.exec(line)?.[1] ?? []));
  t.ok(made.size > 0, 'segments are made');
  for (const name of made) {
    const first = lines.findIndex((line) => line.includes(`${name}.duckdb.wal>`));
    t.ok(
      syncs.some((place) => place > first),
      `${name} has its name`,
    );
  }
  const copies = places(/rename\(.*\.metadata"/);
  t.ok(copies.length > 0, 'metadata was copied');
  for (const copied of copies) {
    const [file = ''] = /[^"]+(?=\.metadata"\)?)/.exec(lines[copied]?.split(',')[1] ?? '') ?? [];
    const changed = lines.findIndex(
      (line, i) => i > copied && line.includes('fsync(') && line.includes(`<${file}>`),
    );
    t.ok(changed > copied, 'the file was changed after that');
    t.ok(
      syncs.some((place) => place > copied && place < changed),
      'a copy has its name before what it is of is changed',
    );
  }
});

/** Where a directory was synced: the places of the lines. */
function syncsOf(lines: readonly string[], directory: string): number[] {
  return lines.flatMap((line, i) => (line.includes('fsync(') && line.includes(`<${directory}>`) ? [i] : []));
}
