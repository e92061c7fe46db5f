import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { aTrace, NOON } from '../support/run-records.js';
import { testFolder } from '../support/test-folder.js';
import { RemoteStore } from './remote-store.js';
import { TestStore } from './test-store.js';

void t.test('names of files are on the disk before anything depends on them', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.close();
  const store = await RemoteStore.open(t, opened.path, 20);
  const said = join(testFolder(t), 'calls');
  if (spawnSync('strace', ['-V']).status !== 0) {
    t.pass('strace is not here');
    return;
  }
  const calls = 'trace=fsync,unlink';
  const strace = spawn(
    'strace',
    ['-f', '-y', '-s', '500', '-e', calls, '-o', said, '-p', String(store.pid)],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const exited = once(strace, 'exit');
  t.teardown(() => strace.kill());
  const attached = new Promise<boolean>((resolve) => {
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes(' attached')) resolve(true);
    });
  });
  if (!(await Promise.race([attached, exited.then(() => false)]))) {
    t.pass('strace may not watch other processes');
    return;
  }
  const receivedAt = NOON;
  for (let i = 0; i < 20; i++)
    await store.call('writeTraces', { tenant, items: [aTrace(3)] }, { receivedAt });
  await store.call('settled');
  await store.close();
  await exited;

  // What was begun; a call that others interrupt stands in two lines.
  const lines = readFileSync(said, 'utf8').split('\n');
  const directory = `<${dirname(opened.path)}>`;
  const isSync = (line: string): boolean => line.includes('fsync(') && line.includes(directory);
  const places = (pattern: RegExp): number[] => lines.flatMap((line, i) => (pattern.test(line) ? [i] : []));
  // Of those that were written to meanwhile.
  const removed = places(/unlink\(.*\.hot-\d+\.duckdb"/).filter((at) => {
    const name = /\.hot-\d+\.duckdb/.exec(lines[at] ?? '')?.[0] ?? '';
    return lines.some((line) => line.includes('fsync(') && line.includes(`${name}.wal>`));
  });
  t.ok(removed.length > 0, 'segments are moved');
  const log = lines.findIndex((line) => /fsync\(.*\.cold\.duckdb\.wal>/.test(line));
  for (const at of removed) {
    const sync = lines.findLastIndex((line, i) => i < at && isSync(line));
    t.ok(log >= 0 && sync > log, 'what took the rows of a segment has its name before the segment goes');
  }
  const made = new Set(lines.flatMap((line) => /fsync\(.*(\.hot-\d+)\.duckdb>/.exec(line)?.[1] ?? []));
  t.ok(made.size > 0, 'segments are made');
  for (const name of made) {
    const first = lines.findIndex((line) => line.includes(`${name}.duckdb.wal>`));
    t.ok(lines.findIndex((line, i) => i > first && isSync(line)) > first, `${name} has its name`);
  }
});
