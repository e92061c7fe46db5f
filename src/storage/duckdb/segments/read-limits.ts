import { availableParallelism } from 'node:os';
import { WAITING_READS } from '../../shared/read-pool.js';

/** Bytes of a list read at a time, because the result of a statement is held in memory. */
export const PART_BYTES = 4 * 1024 * 1024;

/** Limits on running and waiting reads. */
export interface ReadLimits {
  /** Concurrent user reads. Null: number of cores plus one. */
  readonly atATime: number | null;
  /** Maximum waiting user reads, in total and per user. */
  readonly maxWaiting: number;
  readonly maxWaitingOfUser: number;
  /** Time limit of a read, and separately of its wait, in milliseconds. */
  readonly timeoutMs: number;
}

export const READ_LIMITS: ReadLimits = {
  atATime: null,
  ...WAITING_READS,
  timeoutMs: 30_000,
};

/** Concurrent reads of the store's own work: two long ones of different kinds, and one more. */
export const OWN_READS = 3;

/** Below two, one read blocks all others; more than `MOST` gain nothing on one disk. */
const LEAST = 2;
const MOST = 16;
/** Threads for commits, compaction, the main file, and one of the store's own reads. */
const OTHER_THREADS = 4;
/** Default size of the libuv thread pool. */
const DEFAULT_POOL_THREADS = 4;

/**
 * Concurrent user reads on this machine. Each running statement holds one libuv pool thread (`UV_THREADPOOL_SIZE`), and commits
 * must never wait for one.
 */
export function readsAtATime(
  { atATime }: Pick<ReadLimits, 'atATime'>,
  cores = availableParallelism(),
  poolThreads = Number(process.env.UV_THREADPOOL_SIZE) || DEFAULT_POOL_THREADS,
): number {
  return Math.max(LEAST, Math.min(atATime ?? cores + 1, MOST, poolThreads - OTHER_THREADS));
}
