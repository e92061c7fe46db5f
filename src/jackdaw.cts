#!/usr/bin/env -S node --max-semi-space-size=64
// Starts the program with enough libuv threads: each running statement of the store occupies one. libuv reads their number before the
// first ES module runs, so this file is not one.

/** Commits, compaction, the main file, the store's internal reads, other files, name lookups and compression. */
const OTHER_THREADS = 10;
/** For users' reads, if the configuration sets more of them than there are cores. */
const LEAST_READS = 4;

async function start(): Promise<void> {
  const { availableParallelism } = await import('node:os');
  const threads = Math.max(availableParallelism() + 1, LEAST_READS) + OTHER_THREADS;
  process.env.UV_THREADPOOL_SIZE ??= String(threads);
  await import('./main.js');
}

void start();
