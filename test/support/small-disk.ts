import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** An in-memory file system visible only to processes started through it. */
export interface SmallDisk {
  /** Its path for those processes. */
  readonly path: string;
  /** Its path for others. */
  readonly seen: string;
  /** Command prefix for processes that use it. */
  readonly through: readonly string[];
  /** Leaves about that many bytes free. */
  fill(leave?: number): void;
  /** Removes the files of {@link fill}. */
  empty(): void;
  /** @returns bytes */
  free(): number;
}

/**
 * Mounts a small file system in its own namespace without special privileges. It is removed with the test.
 *
 * @param folder in which it is mounted @param bytes its size
 * @returns null if that is impossible here
 */
export async function smallDisk(
  t: Pick<Test, 'teardown'>,
  folder: string,
  bytes: number,
): Promise<SmallDisk | null> {
  const path = join(folder, 'disk');
  mkdirSync(path);
  const script = `mount -t tmpfs -o size=${bytes} none "$0" && echo mounted && exec cat`;
  const holder = spawn('unshare', ['-rm', 'sh', '-c', script, path], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(holder, 'close').catch(() => undefined);
  t.teardown(async () => {
    holder.kill('SIGKILL');
    await ended;
  });
  const isMounted = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    ended.then(() => false),
  ]);
  if (!isMounted) return null;
  const pid = String(holder.pid);
  const seen = `/proc/${pid}/root${path}`;
  const free = (): number => {
    const { bavail, bsize } = statfsSync(seen);
    // It may be gone with its folder, and the file system below must not be filled.
    if (bavail * bsize > bytes) throw new Error('the small disk is gone');
    return bavail * bsize;
  };
  const filler = join(seen, 'others.bin');
  return {
    path,
    seen,
    through: ['nsenter', '--target', pid, '--user', '--mount', '--preserve-credentials'],
    fill: (leave = 0) => {
      const piece = Buffer.alloc(4096);
      const pieces = Math.max(0, Math.floor((free() - leave) / piece.length));
      writeFileSync(filler, Buffer.alloc(pieces * piece.length), { flag: 'a' });
    },
    empty: () => {
      rmSync(filler, { force: true });
    },
    free,
  };
}
