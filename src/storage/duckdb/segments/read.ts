import type { Connection } from '../files/connection.js';
import type { Reader } from '../../shared/read-pool.js';
import type { Beside, ConnectionPool } from './connection-pool.js';
import type { Capture } from './segment.js';
import type { Segments } from './segments.js';
import { storageFailure } from '../files/storage-failure.js';

/** Gives a connection, and what may be seen over it, as soon as one is free. */
export type Read = <T>(
  work: (connection: Connection, capture: Capture, beside: Beside) => Promise<T>,
) => Promise<T>;

/** The kinds of the store's own work that read the tables. */
type OwnWork = 'alerts' | 'events' | 'time-outs' | 'upkeep' | 'map' | 'ids' | 'export' | 'usage';

/** Kinds of work whose reads look through much. */
const LONG_WORKS: ReadonlySet<OwnWork> = new Set(['alerts', 'upkeep', 'map', 'ids', 'export', 'usage']);
/** Kinds of work that repeat by themselves when one of their reads was ended, or can do without it. */
const REPEATED_WORKS: ReadonlySet<OwnWork> = new Set(['alerts', 'events', 'time-outs', 'usage']);

/**
 * How everybody gets to read the tables: waits for its turn, takes a capture, and releases both. Users share one pool, and the
 * store's own work another.
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
   * For a user's request.
   *
   * @param isLong whether it may look through much
   * @param abort aborted when the client disconnected
   * @returns a function that throws ConsumeError `overloaded` or `storage_unavailable`
   */
  forUser(tenant: number, isLong: boolean, abort?: AbortSignal): Read {
    return this.#through(this.#users, { share: tenant, isLong, mayBeEnded: true, abort });
  }

  /** The same for the store's own work. */
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
          return await work(connection, capture, running.beside);
        } catch (error) {
          throw storageFailure(error);
        } finally {
          capture.release();
        }
      });
  }
}
