#!/usr/bin/env -S node --max-semi-space-size=64
// Starts the program with enough libuv threads: each running statement of the store occupies one. libuv reads their number before the
// first ES module runs, so this file is not one.

/** Commits, compaction, the main file, the store's internal reads, other files, name lookups and compression. */
const OTHER_THREADS = 10;
/** For users' reads, if the configuration sets more of them than there are cores. */
const LEAST_READS = 4;

/** With less memory than this, V8 collects garbage earlier. */
const LITTLE_MEMORY = 1024 ** 3;
/** Young objects stay in 1 MiB instead of up to 64 MiB for each thread, and the heap grows by less before it is collected. */
const LITTLE_MEMORY_FLAGS = ['--semi-space-growth-factor=1', '--heap-growing-percent=50'];

async function start(): Promise<void> {
  const { availableParallelism, totalmem } = await import('node:os');
  const threads = Math.max(availableParallelism() + 1, LEAST_READS) + OTHER_THREADS;
  process.env.UV_THREADPOOL_SIZE ??= String(threads);
  // 0 or more than the machine has: there is no limit. Flags of the command line are too late for a limit that only the process knows.
  const limit = process.constrainedMemory();
  if (Math.min(limit > 0 ? limit : Infinity, totalmem()) < LITTLE_MEMORY) {
    const { setFlagsFromString } = await import('node:v8');
    for (const flag of LITTLE_MEMORY_FLAGS) setFlagsFromString(flag);
  }
  await import('./main.js');
}

void start();
