import { systemClock } from '../../../telemetry/system-clock.js';
import type { Database } from '../files/database.js';
import { OWN_READS, readsAtATime, type ReadLimits } from './read-limits.js';
import { ReadPool, type ReadPoolOptions } from './read-pool.js';

/** One for users, and one for the store's own work. */
export interface ReadPools {
  readonly users: ReadPool;
  readonly own: ReadPool;
}

export async function openPools(database: Database, limits: ReadLimits): Promise<ReadPools> {
  const { maxWaiting, maxWaitingOfUser, timeoutMs } = limits;
  const options: ReadPoolOptions = {
    size: readsAtATime(limits),
    maxWaiting,
    maxWaitingOfShare: maxWaitingOfUser,
    timeoutMs,
    clock: systemClock,
  };
  return {
    users: await ReadPool.open(database, options),
    own: await ReadPool.open(database, { ...options, size: OWN_READS, maxWaitingOfShare: maxWaiting }),
  };
}
