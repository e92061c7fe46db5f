import { LRUCache } from 'lru-cache';
import { ConsumeError } from '../../component/consume-error.js';
import { MICROS_PER_DAY } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';

/** Limit of a user's links to traces that have not arrived, and how long they are kept. */
export const MOST_PENDING = 10_000;
export const PENDING_KEPT_FOR: Micros = 30 * MICROS_PER_DAY;

/** Minimum interval between recounts at the limit. */
const RECOUNT_MS = 10_000;
const REMEMBERED = 10_000;

interface Count {
  links: number;
  /** From `performance.now()`. */
  readonly countedAt: number;
}

/**
 * Limits the pending links of each user. They are counted in the tables at first, and again at the limit, since traces may have arrived.
 */
export class PendingLinks {
  readonly #read: (tenant: number) => Promise<number>;
  readonly #counts = new LRUCache<number, Promise<Count>>({ max: REMEMBERED });

  constructor(read: (tenant: number) => Promise<number>) {
    this.#read = read;
  }

  /** Counts a link to a trace that may never arrive. @throws ConsumeError `storage_exceeded` */
  async take(tenant: number): Promise<void> {
    const counting = this.#counts.get(tenant) ?? this.#count(tenant);
    let count = await counting;
    if (isFull(count) && performance.now() - count.countedAt > RECOUNT_MS) {
      const newer = this.#counts.get(tenant);
      count = await (newer === undefined || newer === counting ? this.#count(tenant) : newer);
    }
    if (isFull(count))
      throw new ConsumeError(
        `${String(MOST_PENDING)} links to prompts are waiting for traces that are not stored, which is the limit per user. Send the traces, or wait: links expire after 30 days.`,
        { code: 'storage_exceeded', retryable: true, retryAfterMs: RECOUNT_MS },
      );
    count.links++;
  }

  /** Concurrent links of a user share the count. */
  async #count(tenant: number): Promise<Count> {
    const counting = this.#read(tenant).then((links) => ({ links, countedAt: performance.now() }));
    this.#counts.set(tenant, counting);
    try {
      return await counting;
    } catch (error) {
      this.#counts.delete(tenant);
      throw error;
    }
  }
}

function isFull({ links }: Count): boolean {
  return links >= MOST_PENDING;
}
