import { ReadPool, type RunParallel, type PoolRead, type ReadPoolOptions } from '../../shared/read-pool.js';
import type { Connection } from '../files/connection.js';
import type { Database } from '../files/database.js';

/** The connections that reads share. */
export type ConnectionPool = ReadPool<Connection>;
/** A read that has a connection. */
export type RunningRead = PoolRead<Connection>;
export type ParallelPart = RunParallel<Connection>;

/** Opens one connection per concurrent read. */
export async function openPool(
  database: Database,
  { size, ...options }: ReadPoolOptions & { readonly size: number },
): Promise<ConnectionPool> {
  const connections: Connection[] = [];
  for (let i = 0; i < size; i++) connections.push(await database.connect());
  return new ReadPool(connections, options);
}
