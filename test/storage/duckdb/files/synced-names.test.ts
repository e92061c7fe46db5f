import { dirname } from 'node:path';
import t from 'tap';
import { aTrace, NOON } from '../../../support/run-records.js';
import { watchCalls } from '../../../support/watched-calls.js';
import { RemoteStore } from '../remote-store.js';
import { TestStore } from '../test-store.js';

const NO_STRACE = 'strace is not here, or may not watch other processes';

void t.test('syncs file names before anything depends on them', async (t) => {
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
  // Only segments that had writes.
  const removed = places(/unlink\(.*\.hot-\d+\.duckdb"/).filter((at) => {
    const name = /\.hot-\d+\.duckdb/.exec(lines[at] ?? '')?.[0] ?? '';
    return lines.some((line) => line.includes('fsync(') && line.includes(`${name}.wal>`));
  });
  t.ok(removed.length > 0, 'segments were compacted');
  const log = lines.findIndex((line) => /fsync\(.*\.cold\.duckdb\.wal>/.test(line));
  for (const at of removed) {
    const sync = syncs.findLast((place) => place < at) ?? -1;
    t.ok(log >= 0 && sync > log, 'the cold log is synced before the segment is removed');
  }
  const made = new Set(lines.flatMap((line) => /fsync\(.*(\.hot-\d+)\.duckdb>/.exec(line)?.[1] ?? []));
  t.ok(made.size > 0, 'segments were created');
  for (const name of made) {
    const first = lines.findIndex((line) => line.includes(`${name}.duckdb.wal>`));
    t.ok(
      syncs.some((place) => place > first),
      `${name} is synced`,
    );
  }
  const copies = places(/rename\(.*\.metadata"/);
  t.ok(copies.length > 0, 'metadata was copied');
  for (const copied of copies) {
    const [file = ''] = /[^"]+(?=\.metadata"\)?)/.exec(lines[copied]?.split(',')[1] ?? '') ?? [];
    const changed = lines.findIndex(
      (line, i) => i > copied && line.includes('fsync(') && line.includes(`<${file}>`),
    );
    t.ok(changed > copied, 'the file was changed after the copy');
    t.ok(
      syncs.some((place) => place > copied && place < changed),
      'the copy is synced before the original changes',
    );
  }
});

/** Line numbers of the syncs of a directory. */
function syncsOf(lines: readonly string[], directory: string): number[] {
  return lines.flatMap((line, i) => (line.includes('fsync(') && line.includes(`<${directory}>`) ? [i] : []));
}
