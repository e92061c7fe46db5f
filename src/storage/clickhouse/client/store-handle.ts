import { notOpen } from '../../contracts/errors.js';
import type { Connection } from './connection.js';
import type { Tenants } from './tenants.js';

/** What there is while a store is open. */
interface Opened {
  readonly connection: Connection;
  readonly tenants: Tenants;
}

/** The way of all parts of a store to ClickHouse, and to the numbers of users. */
export class StoreHandle {
  #opened: Opened | null = null;

  open(opened: Opened): void {
    this.#opened = opened;
  }

  /** @returns what was open */
  close(): Opened | null {
    const opened = this.#opened;
    this.#opened = null;
    return opened;
  }

  /** @throws ConsumeError `storage_unavailable` where the store is not open */
  get connection(): Connection {
    return this.#open().connection;
  }

  /** The number of a user, which rows carry. @throws Error for a user that there is not; ConsumeError */
  async tenantOf(userId: string): Promise<number> {
    return await this.#open().tenants.of(userId);
  }

  #open(): Opened {
    if (this.#opened !== null) return this.#opened;
    throw notOpen();
  }
}
