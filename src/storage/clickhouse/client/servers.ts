import type { ClickHouseClient } from '@clickhouse/client';

/** Milliseconds after which servers earlier in the list are tried again. */
const LOOK_BACK_MS = 10_000;

/**
 * The servers of a store, in order of preference. All processes use the first server that responds, so that a writer sees earlier writes. A
 * failed server is skipped until it responds again. A switch does not wait for replication: of more than two servers, the next one may lack
 * the last writes (`../README.md`).
 */
export class Servers {
  readonly #clients: readonly ClickHouseClient[];
  readonly #now: () => number;
  #current = 0;
  #lookedAt: number;
  #looking: Promise<void> | null = null;

  /** @param now milliseconds */
  constructor(clients: readonly ClickHouseClient[], now: () => number) {
    this.#clients = clients;
    this.#now = now;
    this.#lookedAt = now();
  }

  /** The client of the current server. */
  async client(): Promise<ClickHouseClient> {
    if (this.#current > 0 && this.#now() - this.#lookedAt > LOOK_BACK_MS) await this.#look();
    return this.#at(this.#current);
  }

  /** Switches to the first server that responds; without one, nothing changes. */
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

/** Uses a statement, because a ping does not check permissions and the database. */
async function answers(client: ClickHouseClient): Promise<boolean> {
  return (await client.ping({ select: true })).success;
}
