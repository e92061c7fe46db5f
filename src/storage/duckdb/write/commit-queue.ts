import type { QuotaUsage } from '../../../component/consumer.js';
import { Allowances, type ItemCounts } from './item-counts.js';
import { closing } from '../../contracts/errors.js';
import type { HeaderRow } from '../../../runs/rules/rows.js';
import { weightOf, type Change } from './change.js';

/** Spans per transaction: larger groups only increase latency, not throughput. */
const GROUP_SPANS = 10_000;
/**
 * After a group of BUSY_SPANS or more, more load is likely. So the next group waits for GATHERED_SPANS, or for GATHER_MS: groups of
 * 2500 spans instead of 900 take 10% less processor time per span.
 */
const BUSY_SPANS = 500;
const GATHERED_SPANS = 2000;
const GATHER_MS = 8;

/** The result of a change. */
export interface WriteAnswer {
  /** The usage of the quota that the change counts towards, if any. */
  readonly usage: QuotaUsage | undefined;
}

/** The result of a change that may have set an outcome. */
export interface Written extends WriteAnswer {
  /** The current header; null for an unknown trace, and for changes that set no outcome. */
  readonly header: HeaderRow | null;
}

/** A change that waits for its commit, and its callbacks. */
export interface Waiting {
  readonly change: Change;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

/** The changes that wait for their commit, in order of arrival. */
export class CommitQueue {
  readonly #counts: ItemCounts;
  #waiting: Waiting[] = [];
  #waitingSpans = 0;
  /** Number of spans in the last group. */
  #lastSpans = 0;
  /** Ends {@link gather} early. */
  #gathered: (() => void) | null = null;

  constructor(counts: ItemCounts) {
    this.#counts = counts;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves after the commit that holds the change. */
  async add(change: Change): Promise<Written> {
    return await new Promise<Written>((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      this.#waitingSpans += weightOf(change);
      if (this.#waitingSpans >= GATHERED_SPANS) this.#gathered?.();
    });
  }

  /** Requeues uncommitted changes at the end, so that they do not delay other senders. */
  putBack(changes: readonly Waiting[]): void {
    this.#waiting.push(...changes);
    for (const { change } of changes) this.#waitingSpans += weightOf(change);
  }

  /** Refuses all waiting changes. */
  refuseAll(): void {
    this.#waitingSpans = 0;
    for (const { reject } of this.#waiting.splice(0)) reject(closing());
  }

  /** After a large group: resolves when enough spans wait for the next group, or on timeout. */
  async gather(): Promise<void> {
    if (this.#lastSpans < BUSY_SPANS || this.#waitingSpans >= GATHERED_SPANS) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#gathered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#gathered = null;
  }

  /** The next group. */
  take(): Waiting[] {
    let spans = 0;
    let length = 0;
    const allowances = new Allowances(this.#counts);
    for (const { change } of this.#waiting) {
      const more = weightOf(change);
      const isAllowed = allowances.take(change);
      if (length > 0 && (spans + more > GROUP_SPANS || !isAllowed)) break;
      spans += more;
      length++;
      // This change may be refused, which must not fail the others.
      if (!isAllowed) break;
    }
    const group = this.#waiting.slice(0, length);
    this.#waiting = this.#waiting.slice(length);
    this.#waitingSpans -= spans;
    this.#lastSpans = spans;
    return group;
  }
}
