import type { QuotaUsage } from '../../../component/consumer.js';
import { Allowances, type EventCounts } from '../changes/event-counts.js';
import { closing } from '../files/read-errors.js';
import type { HeaderRow } from '../../../runs/rules/rows.js';
import type { Change } from '../changes/change.js';

/** Spans of one transaction: larger groups bring no more throughput, only longer waits. */
const GROUP_SPANS = 10_000;
/**
 * After a group of at least BUSY_SPANS more is on its way, and the next group gathers until it has GATHERED_SPANS or
 * GATHER_MS are over: groups of 2500 spans instead of 900 take 10 % less processor time for a span.
 */
const BUSY_SPANS = 500;
const GATHERED_SPANS = 2000;
const GATHER_MS = 8;

/** What became of a change. */
export interface WriteAnswer {
  /** How the quota that it counts for stands, where there is one. */
  readonly usage: QuotaUsage | undefined;
}

/** What became of an outcome that was set, too. */
export interface Written extends WriteAnswer {
  /** The header as it is now; null for an unknown trace, and for other changes. */
  readonly header: HeaderRow | null;
}

/** A change that waits for its commit, and who is to be told. */
export interface Waiting {
  readonly change: Change;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

/** Changes that wait for their commit, in the order they came. */
export class CommitLine {
  readonly #counts: EventCounts;
  #waiting: Waiting[] = [];
  #waitingSpans = 0;
  /** Spans of the group before. */
  #lastSpans = 0;
  /** Ends the gathering. */
  #gathered: (() => void) | null = null;

  constructor(counts: EventCounts) {
    this.#counts = counts;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves after the commit that holds the change. */
  async add(change: Change): Promise<Written> {
    return await new Promise<Written>((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      this.#waitingSpans += spansOf(change);
      if (this.#waitingSpans >= GATHERED_SPANS) this.#gathered?.();
    });
  }

  /** Lets changes that could not be committed yet wait once more, behind all others: nobody who sent those knows of these. */
  putBack(changes: readonly Waiting[]): void {
    this.#waiting.push(...changes);
    for (const { change } of changes) this.#waitingSpans += spansOf(change);
  }

  /** Refuses everything. */
  refuseAll(): void {
    this.#waitingSpans = 0;
    for (const { reject } of this.#waiting.splice(0)) reject(closing());
  }

  /** After a large group: resolves when enough waits for the next, or when the time is over. */
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
      const more = spansOf(change);
      const isAllowed = allowances.take(change);
      if (length > 0 && (spans + more > GROUP_SPANS || !isAllowed)) break;
      spans += more;
      length++;
      // It may be refused, and must not take others with it.
      if (!isAllowed) break;
    }
    const group = this.#waiting.slice(0, length);
    this.#waiting = this.#waiting.slice(length);
    this.#waitingSpans -= spans;
    this.#lastSpans = spans;
    return group;
  }
}

function spansOf(change: Change): number {
  if ('append' in change) return change.append.weight;
  return 'batch' in change ? change.batch.spans.rows + change.batch.traces.rows : 1;
}
