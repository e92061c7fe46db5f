#!/usr/bin/env -S node --max-semi-space-size=64
// Starts the program with enough libuv threads: each running statement of the store occupies one. libuv reads their number before the
// first ES module runs, so this file is not one.

/** Commits, compaction, the main file, the store's internal reads, other files, name lookups and compression. */
const OTHER_THREADS = 10;
/** For users' reads, if the configuration sets more of them than there are cores. */
const LEAST_READS = 4;

/** With no more memory than this, V8 trades speed for memory. */
const LITTLE_MEMORY = 1024 ** 3;
/**
 * Young objects get 1 MiB in each thread instead of up to 64 MiB, the heap grows by half before it is collected, and collections
 * compact it: under load it kept three times the memory in use otherwise.
 */
const LITTLE_MEMORY_FLAGS = [
  '--semi-space-growth-factor=1',
  '--heap-growing-percent=50',
  '--compact-on-every-full-gc',
];

async function start(): Promise<void> {
  const { availableParallelism, totalmem } = await import('node:os');
  const threads = Math.max(availableParallelism() + 1, LEAST_READS) + OTHER_THREADS;
  process.env.UV_THREADPOOL_SIZE ??= String(threads);
  // 0, or more than the machine has, means no limit. The command line of Node cannot depend on it.
  const limit = process.constrainedMemory();
  if (Math.min(limit > 0 ? limit : Infinity, totalmem()) <= LITTLE_MEMORY) {
    const { setFlagsFromString } = await import('node:v8');
    for (const flag of LITTLE_MEMORY_FLAGS) setFlagsFromString(flag);
  }
  await import('./main.js');
}

void start();
