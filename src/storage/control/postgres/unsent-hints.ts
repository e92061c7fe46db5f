import type { Topic } from '../../contracts/coordination.js';

/** Delivery ids per message: PostgreSQL limits it to less than 8000 bytes. */
const MOST_AT_ONCE = 200;
/** Maximum number of queued ids; beyond it only the count is sent. */
const MOST_WAITING = 1000;
/** Prefixes of an id, and of the count of unnamed deliveries. Topics begin with a letter. */
const [ID, MORE] = ['+', '!'] as const;

/** Changes that a process sends to the others. */
export interface Hints {
  readonly topics: ReadonlySet<Topic>;
  readonly deliveries: readonly string[];
  /** Number of further changed deliveries. */
  readonly lost: number;
}

/** Hints that have not been sent to other processes yet. */
export class UnsentHints {
  readonly #topics = new Set<Topic>();
  readonly #deliveries = new Set<string>();
  #lost = 0;

  get isEmpty(): boolean {
    return this.#topics.size + this.#deliveries.size + this.#lost === 0;
  }

  add({ topics, deliveries, lost }: Hints): void {
    for (const topic of topics) this.#topics.add(topic);
    this.#lost += lost;
    for (const id of deliveries) {
      if (this.#deliveries.size < MOST_WAITING) this.#deliveries.add(id);
      else if (!this.#deliveries.has(id)) this.#lost += 1;
    }
  }

  /** Removes and returns the next hints to send. */
  take(): Hints {
    const deliveries = [...this.#deliveries].slice(0, MOST_AT_ONCE);
    const hints = { topics: new Set(this.#topics), deliveries, lost: this.#lost };
    this.#topics.clear();
    for (const id of deliveries) this.#deliveries.delete(id);
    this.#lost = 0;
    return hints;
  }
}

/** Serializes hints to words. */
export function serializeHints({ topics, deliveries, lost }: Hints): readonly string[] {
  return [...topics, ...deliveries.map((id) => ID + id), ...(lost > 0 ? [MORE + String(lost)] : [])];
}

/** @param words of another process, possibly of another version */
export function readHints(words: readonly string[]): Hints {
  const after = (sign: string): string[] =>
    words.filter((word) => word.startsWith(sign)).map((word) => word.slice(sign.length));
  const lost = Number(after(MORE)[0] ?? 0);
  return {
    topics: new Set(words.filter((word) => /^[a-z]/.test(word)) as Topic[]),
    deliveries: after(ID),
    lost: Number.isSafeInteger(lost) && lost > 0 ? lost : 0,
  };
}
