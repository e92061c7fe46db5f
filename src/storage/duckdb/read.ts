import type { Connection } from './database.js';
import type { ReadPool } from './read-pool.js';
import type { Capture, Segments } from './segments.js';
import { storageFailure } from './writer.js';

/** Gives a connection and what it may see, once there is one. */
export type Read = <T>(work: (connection: Connection, capture: Capture) => Promise<T>) => Promise<T>;

/**
 * The way to the tables for everybody who reads: waits in the pool's line, takes a capture, and releases both.
 *
 * @returns a function that throws ConsumeError `overloaded` or `storage_unavailable`
 */
export function readFrom(pool: ReadPool, segments: Segments): Read {
  return async (work) =>
    await pool.use(async (connection) => {
      await segments.ready();
      const capture = segments.capture();
      try {
        return await work(connection, capture);
      } catch (error) {
        throw storageFailure(error);
      } finally {
        capture.release();
      }
    });
}
