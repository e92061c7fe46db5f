import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A file system of its own, in memory, which only processes that are started through it see. */
export interface SmallDisk {
  /** Where those processes see it. */
  readonly path: string;
  /** Where others do. */
  readonly seen: string;
  /** What stands before a command that is to see it. */
  readonly through: readonly string[];
  /** Leaves so many bytes free, about. */
  fill(leave?: number): void;
  /** Takes away what {@link fill} has put there. */
  empty(): void;
  /** @returns bytes */
  free(): number;
}

/**
 * Mounts a small file system in a namespace of its own, which takes no right that others have not. It is gone with the test.
 *
 * @param folder in which it is mounted @param bytes of it
 * @returns null where that cannot be done here
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
    // It may have gone with its folder, and nobody is to fill what lies below.
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
