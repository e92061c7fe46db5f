import { ConsumeError } from '../../component/consume-error.js';
import type { Connection, Database } from './database.js';

/**
 * The connections that reads share. Each statement under way holds one of the process's pool threads (four, by Node's
 * default), and commits and moves need some too: so reads get two at a time and wait in a bounded line.
 */
export class ReadPool {
  readonly #free: Connection[];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #maxWaiting: number;

  private constructor(connections: Connection[], maxWaiting: number) {
    this.#free = connections;
    this.#maxWaiting = maxWaiting;
  }

  static async open(database: Database, size: number, maxWaiting: number): Promise<ReadPool> {
    const connections: Connection[] = [];
    for (let i = 0; i < size; i++) connections.push(await database.connect());
    return new ReadPool(connections, maxWaiting);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** @throws ConsumeError `overloaded` when the line is full. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.#free.pop() ?? (await this.#wait());
    try {
      return await work(connection);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(connection);
      else next(connection);
    }
  }

  async #wait(): Promise<Connection> {
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new ConsumeError('Too many reads are waiting for the store.', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: 1000,
      });
    }
    return await new Promise((resolve) => this.#waiting.push(resolve));
  }
}
