import type { ClickHouseClient } from '@clickhouse/client';

/** After so many milliseconds an earlier server of the list is looked for again. */
const LOOK_BACK_MS = 10_000;

/**
 * The servers of a store, in the order in which they are used: all processes use the first one that answers, so that who writes sees
 * what was written before. One that fails is left until it answers again.
 */
export class Servers {
  readonly #clients: readonly ClickHouseClient[];
  readonly #now: () => number;
  /** Before a server is used after another one: what must have come there first. */
  readonly #changed: (client: ClickHouseClient) => Promise<void>;
  #current = 0;
  #lookedAt: number;
  #looking: Promise<void> | null = null;

  /** @param now milliseconds */
  constructor(
    clients: readonly ClickHouseClient[],
    now: () => number,
    changed: (client: ClickHouseClient) => Promise<void>,
  ) {
    this.#clients = clients;
    this.#now = now;
    this.#changed = changed;
    this.#lookedAt = now();
  }

  /** The one to use. */
  async client(): Promise<ClickHouseClient> {
    if (this.#current > 0 && this.#now() - this.#lookedAt > LOOK_BACK_MS) await this.#look();
    return this.#at(this.#current);
  }

  /** Goes on with the first one that answers; where none does, all stays as it is. */
  async failed(client: ClickHouseClient): Promise<void> {
    if (this.#clients.length > 1 && client === this.#at(this.#current)) await this.#look();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#clients.map((client) => client.close()));
  }

  async #look(): Promise<void> {
    this.#looking ??= this.#findFirst().finally(() => (this.#looking = null));
    await this.#looking;
  }

  async #findFirst(): Promise<void> {
    this.#lookedAt = this.#now();
    for (const [index, client] of this.#clients.entries()) {
      if (!(await answers(client))) continue;
      if (index !== this.#current) await this.#changed(client);
      this.#current = index;
      return;
    }
  }

  #at(index: number): ClickHouseClient {
    const client = this.#clients[index];
    if (client === undefined) throw new RangeError('a store in ClickHouse needs a server');
    return client;
  }
}

/** By a statement, since a bare ping says nothing of rights and databases. */
async function answers(client: ClickHouseClient): Promise<boolean> {
  return (await client.ping({ select: true })).success;
}
