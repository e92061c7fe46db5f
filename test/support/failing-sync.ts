import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';

/**
 * Makes every `fsync` of some files in another process fail like on a failing disk.
 *
 * @param paths files that it has open
 * @returns a function that ends this, because it slows the process down; null if `strace` is missing or cannot watch other processes
 */
export async function failSyncs(
  t: Pick<Test, 'teardown'>,
  pid: number,
  paths: readonly string[],
): Promise<(() => Promise<void>) | null> {
  if (spawnSync('strace', ['-V']).status !== 0) return null;
  const calls = 'fsync,fdatasync';
  const files = paths.flatMap((path) => ['-P', path]);
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO`];
  const strace = spawn('strace', ['-f', '-o', '/dev/null', ...files, ...inject, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(strace, 'exit');
  const end = async (): Promise<void> => {
    strace.kill();
    await exited;
  };
  t.teardown(end);
  let output = '';
  const attached = new Promise<boolean>((resolve) => {
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (/ attached/.test(output)) resolve(true);
    });
  });
  return (await Promise.race([attached, exited.then(() => false)])) ? end : null;
}
