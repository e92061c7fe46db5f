import { availableParallelism } from 'node:os';
import { WAITING_READS } from '../../shared/read-pool.js';

/** How many reads the store runs, and how many may wait. */
export interface ReadLimits {
  /** Reads of users at a time. Null: one more than the machine has cores. */
  readonly atATime: number | null;
  /** Reads of users that may wait, of all together and of one user. */
  readonly maxWaiting: number;
  readonly maxWaitingOfUser: number;
  /** How long a read may take, and how long it may wait before that, in milliseconds. */
  readonly timeoutMs: number;
}

export const READ_LIMITS: ReadLimits = {
  atATime: null,
  ...WAITING_READS,
  timeoutMs: 30_000,
};

/** Reads of the store's own work at a time: two long ones of different kinds, and one more. */
export const OWN_READS = 3;

/** Two are the fewest that leave one to others; more than `MOST` gain nothing on one disk. */
const LEAST = 2;
const MOST = 16;
/** Commits, moves, the main file, and one of the store's own reads each have a thread besides. */
const OTHER_THREADS = 4;
/** The size of Node's pool where nobody sets it. */
const DEFAULT_POOL_THREADS = 4;

/**
 * Reads of users at a time on this machine. Each running statement holds one of the process's pool threads
 * (`UV_THREADPOOL_SIZE`), and commits must never wait for one.
 */
export function readsAtATime(
  { atATime }: Pick<ReadLimits, 'atATime'>,
  cores = availableParallelism(),
  poolThreads = Number(process.env.UV_THREADPOOL_SIZE) || DEFAULT_POOL_THREADS,
): number {
  return Math.max(LEAST, Math.min(atATime ?? cores + 1, MOST, poolThreads - OTHER_THREADS));
}
