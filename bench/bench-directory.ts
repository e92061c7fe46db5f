import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key of the right form; the daemons of a bench listen on loopback and live for minutes. */
export const BENCH_KEY = `jd_${'bench'.repeat(8)}xyz`;

/** Does work in a fresh folder that is removed afterwards, whatever happens. */
export async function inFreshDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'jackdaw-bench-'));
  // For the end by Ctrl-C, when nothing asynchronous runs any more.
  const removeNow = () => {
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', removeNow);
  try {
    return await work(directory);
  } finally {
    process.off('exit', removeNow);
    await rm(directory, { recursive: true, force: true });
  }
}
