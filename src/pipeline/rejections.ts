import { shorten } from '../component/item-problems.js';
import type {
  RejectedCount,
  RejectedItems,
  Rejection,
  Rejections,
  RememberedRejections,
} from '../component/rejections.js';
import type { ConsumeErrorCode } from '../component/consume-error.js';
import type { Clock } from '../component/telemetry.js';
import type { Micros } from '../signal/time.js';
import { dayOf, formatDay } from '../storage/contracts/telemetry-writer.js';
import { redactor } from '../telemetry/redact.js';

/** Limits of stored items by user, by batch and for all users together: about 20 MB at most. */
const MOST_OF_USER = 1000;
const MOST_OF_BATCH = 100;
const MOST_OF_ALL = 20_000;
/** Days of counts kept for each user. */
const MOST_DAYS = 92;
const MOST_USERS = 10_000;
/** Maximum lengths in characters: the sender may determine both texts. */
const MOST_ERROR = 300;
const MOST_ID = 100;

const withoutKeys = redactor([]);

interface Known {
  readonly since: Micros;
  readonly items: Rejection[];
  /** Counts by day, then by code. */
  readonly days: Map<number, Map<ConsumeErrorCode, number>>;
}

/** Stores rejections in memory. At the limit, the user with the oldest last rejection is evicted. */
export class RejectionsInMemory implements Rejections {
  readonly #clock: Clock;
  /** Ordered by the last rejection, the newest last. */
  readonly #users = new Map<string, Known>();
  #total = 0;
  /** Rejections since this time are complete for users that are not in the map. */
  #since: Micros;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  note(userId: string, { receiver, signal, code, items, count = items.length }: RejectedItems): void {
    if (count === 0) return;
    const at = this.#clock.now();
    const known: Known = this.#users.get(userId) ?? { since: this.#since, items: [], days: new Map() };
    this.#users.delete(userId);
    this.#users.set(userId, known);
    // All items of a batch refused as a whole have the same error.
    let [lastError, error] = ['', ''];
    for (const item of items.slice(0, MOST_OF_BATCH)) {
      const id = item.trace_id === null || item.trace_id === '' ? null : shorten(item.trace_id, MOST_ID);
      if (item.error !== lastError)
        [lastError, error] = [item.error, shorten(withoutKeys(item.error), MOST_ERROR)];
      known.items.push({ at, receiver, signal, trace_id: id, code, error });
      this.#total += 1;
    }
    const surplus = known.items.length - MOST_OF_USER;
    if (surplus > 0) {
      known.items.splice(0, surplus);
      this.#total -= surplus;
    }
    countOn(known, dayOf(at), code, count);
    this.#makeRoom(at);
  }

  of(userId: string): RememberedRejections {
    const known = this.#users.get(userId);
    if (!known) return { since: this.#since, items: [], counts: [] };
    const counts = [...known.days].flatMap(([day, byCode]) =>
      [...byCode].map(([code, items]): RejectedCount => ({ date: formatDay(day), code, items })),
    );
    return { since: known.since, items: known.items.toReversed(), counts };
  }

  #makeRoom(now: Micros): void {
    for (const [userId, { items }] of this.#users) {
      if (this.#total <= MOST_OF_ALL && this.#users.size <= MOST_USERS) return;
      this.#users.delete(userId);
      this.#total -= items.length;
      this.#since = now;
    }
  }
}

function countOn({ days }: Known, day: number, code: ConsumeErrorCode, items: number): void {
  const byCode = days.get(day) ?? new Map<ConsumeErrorCode, number>();
  days.set(day, byCode);
  byCode.set(code, (byCode.get(code) ?? 0) + items);
  const [oldest] = days.keys();
  if (days.size > MOST_DAYS && oldest !== undefined) days.delete(oldest);
}
