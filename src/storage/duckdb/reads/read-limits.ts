import { availableParallelism } from 'node:os';

/** How many reads the store does and lets wait. */
export interface ReadLimits {
  /** Reads of users at a time. Null: as many as the machine has cores, and one. */
  readonly atATime: number | null;
  /** Reads of users that wait, of all together and of one user. */
  readonly maxWaiting: number;
  readonly maxWaitingOfUser: number;
  /** What a read may take, and before that what it may wait, in milliseconds. */
  readonly timeoutMs: number;
}

export const READ_LIMITS: ReadLimits = {
  atATime: null,
  maxWaiting: 1000,
  maxWaitingOfUser: 100,
  timeoutMs: 30_000,
};

/** Reads of the store's own works at a time: two long ones of different works, and one beside them. */
export const OWN_READS = 3;

/** Two are the fewest that leave one to others; more than so many gain nothing on one disk. */
const LEAST = 2;
const MOST = 16;
/** Commits, moves, the main file, and one of the store's own reads have a thread besides. */
const OTHER_THREADS = 4;
/** What Node has where nobody says otherwise. */
const DEFAULT_POOL_THREADS = 4;

/**
 * Reads of users at a time on this machine. Each statement under way holds one of the process's pool threads
 * (`UV_THREADPOOL_SIZE`), and commits must never wait for one.
 */
export function readsAtATime(
  { atATime }: Pick<ReadLimits, 'atATime'>,
  cores = availableParallelism(),
  poolThreads = Number(process.env.UV_THREADPOOL_SIZE) || DEFAULT_POOL_THREADS,
): number {
  return Math.max(LEAST, Math.min(atATime ?? cores + 1, MOST, poolThreads - OTHER_THREADS));
}
