#!/usr/bin/env -S node --max-semi-space-size=64
// Starts the program with enough pool threads: each statement of the store under way holds one. libuv reads their number when
// the first of them is needed, which is before the first ES module of a file has run; so this is none.

/** Commits, moves, the main file, the store's own reads, and what else the process does: files, names, compression. */
const OTHER_THREADS = 10;
/** For reads of users, where the configuration asks for more than there are cores. */
const LEAST_READS = 4;

async function start(): Promise<void> {
  const { availableParallelism } = await import('node:os');
  const threads = Math.max(availableParallelism() + 1, LEAST_READS) + OTHER_THREADS;
  process.env.UV_THREADPOOL_SIZE ??= String(threads);
  await import('./main.js');
}

void start();
