import type { Connection } from '../files/connection.js';
import type { Reader } from '../../shared/read-pool.js';
import type { ParallelPart, ConnectionPool } from './connection-pool.js';
import type { Capture } from './segment.js';
import type { Segments } from './segments.js';
import { storageFailure } from '../files/storage-failure.js';

/** Runs `work` with a connection and a capture as soon as a connection is free. */
export type Read = <T>(
  work: (connection: Connection, capture: Capture, runParallel: ParallelPart) => Promise<T>,
) => Promise<T>;

/** The kinds of the store's own work that read the tables. */
type OwnWork = 'alerts' | 'events' | 'time-outs' | 'upkeep' | 'map' | 'ids' | 'export' | 'usage';

/** Kinds of work whose reads scan a lot of data. */
const LONG_WORKS: ReadonlySet<OwnWork> = new Set(['alerts', 'upkeep', 'map', 'ids', 'export', 'usage']);
/** Kinds of work that retry automatically after one of their reads was ended, or do not need its result. */
const REPEATED_WORKS: ReadonlySet<OwnWork> = new Set(['alerts', 'events', 'time-outs', 'usage']);

/**
 * Runs all reads of the tables: queues the read, takes a capture, and releases the connection and the capture. Users share one
 * pool; the store's own work has another.
 */
export class Reads {
  readonly #users: ConnectionPool;
  readonly #own: ConnectionPool;
  readonly #segments: Segments;

  constructor(users: ConnectionPool, own: ConnectionPool, segments: Segments) {
    this.#users = users;
    this.#own = own;
    this.#segments = segments;
  }

  /**
   * A read function for a user request.
   *
   * @param isLong whether it may scan a lot of data
   * @param abort aborted when the client disconnects
   * @returns a function that throws ConsumeError `overloaded` or `storage_unavailable`
   */
  forUser(tenant: number, isLong: boolean, abort?: AbortSignal): Read {
    return this.#through(this.#users, { share: tenant, isLong, mayBeEnded: true, abort });
  }

  /** A read function for the store's own work. */
  forWork(name: OwnWork, abort?: AbortSignal): Read {
    const isLong = LONG_WORKS.has(name);
    return this.#through(this.#own, { share: name, isLong, mayBeEnded: REPEATED_WORKS.has(name), abort });
  }

  #through(pool: ConnectionPool, reader: Reader): Read {
    return async (work) =>
      await pool.use(reader, async (connection, running) => {
        await this.#segments.ready();
        const capture = this.#segments.capture(running);
        try {
          return await work(connection, capture, running.runParallel);
        } catch (error) {
          throw storageFailure(error);
        } finally {
          capture.release();
        }
      });
  }
}
