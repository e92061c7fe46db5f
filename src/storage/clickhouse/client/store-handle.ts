import { notOpen } from '../../contracts/errors.js';
import type { Connection } from './connection.js';
import type { Tenants } from './tenants.js';

/** State of an open store. */
interface Opened {
  readonly connection: Connection;
  readonly tenants: Tenants;
}

/** Gives all parts of a store the connection and the user numbers. */
export class StoreHandle {
  #opened: Opened | null = null;

  open(opened: Opened): void {
    this.#opened = opened;
  }

  /** @returns the previous state */
  close(): Opened | null {
    const opened = this.#opened;
    this.#opened = null;
    return opened;
  }

  /** @throws ConsumeError `storage_unavailable` if the store is not open */
  get connection(): Connection {
    return this.#open().connection;
  }

  /** The number of a user in rows. @throws Error for an unknown user; ConsumeError */
  async tenantOf(userId: string): Promise<number> {
    return await this.#open().tenants.of(userId);
  }

  #open(): Opened {
    if (this.#opened !== null) return this.#opened;
    throw notOpen();
  }
}
