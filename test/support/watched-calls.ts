import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/**
 * Watches the system calls of a process from now on.
 *
 * @param calls their names, `fsync,unlink`
 * @returns a function that returns them as printed by `strace` with file paths, in start order (interrupted calls take two lines), and
 * waits for the process to end unless it is this one; null if `strace` is missing or cannot watch other processes
 */
export async function watchCalls(
  t: Pick<Test, 'teardown'>,
  pid: number,
  calls: string,
): Promise<(() => Promise<string[]>) | null> {
  if (spawnSync('strace', ['-V']).status !== 0) return null;
  // Not the folder of the test: another call of `testdir` would empty it.
  const folder = mkdtempSync(join(tmpdir(), 'calls-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  const output = join(folder, 'calls');
  const strace = spawn(
    'strace',
    ['-f', '-y', '-s', '500', '-e', `trace=${calls}`, '-o', output, '-p', String(pid)],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(strace, 'exit');
  t.teardown(() => strace.kill());
  const attached = new Promise<boolean>((resolve) => {
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes(' attached')) resolve(true);
    });
  });
  if (!(await Promise.race([attached, exited.then(() => false)]))) return null;
  return async () => {
    // It ends with the process.
    if (pid === process.pid) strace.kill();
    await exited;
    return readFileSync(output, 'utf8').split('\n');
  };
}
