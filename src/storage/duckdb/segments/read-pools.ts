import { systemClock } from '../../../telemetry/system-clock.js';
import type { Database } from '../files/database.js';
import { OWN_READS, readsAtATime, type ReadLimits } from './read-limits.js';
import { openPool, type ConnectionPool } from './connection-pool.js';

/** One for users, and one for the store's own work. */
export interface ReadPools {
  readonly users: ConnectionPool;
  readonly own: ConnectionPool;
}

export async function openPools(database: Database, limits: ReadLimits): Promise<ReadPools> {
  const { maxWaiting, maxWaitingOfUser, timeoutMs } = limits;
  const options = {
    size: readsAtATime(limits),
    maxWaiting,
    maxWaitingOfShare: maxWaitingOfUser,
    timeoutMs,
    timeoutKey: 'extensions.duckdb.read_timeout',
    clock: systemClock,
  };
  return {
    users: await openPool(database, options),
    own: await openPool(database, { ...options, size: OWN_READS, maxWaitingOfShare: maxWaiting }),
  };
}
