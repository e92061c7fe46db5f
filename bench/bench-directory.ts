import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The API key of every bench. Its daemons listen only on loopback addresses. */
export const BENCH_KEY = `jd_${'bench'.repeat(8)}xyz`;

/** Runs `work` in a new temporary directory and removes it afterwards. */
export async function withTempDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'jackdaw-bench-'));
  // On Ctrl-C, asynchronous code no longer runs.
  const removeSync = () => {
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', removeSync);
  try {
    return await work(directory);
  } finally {
    process.off('exit', removeSync);
    await rm(directory, { recursive: true, force: true });
  }
}
