import type { Clock } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';
import type { Topic, Watch } from '../contracts/coordination.js';
import { LruCache } from './lru-cache.js';

/** Hints may be lost, so entries expire after this time, unless a shorter one is given. */
const MOST_AGE: Micros = 30 * MICROS_PER_SECOND;

interface Kept<Answer> {
  readonly answer: Answer;
  readonly askedAt: Micros;
}

/** LRU cache of control-store answers, invalidated by hints. A caller after a hint never gets an answer requested before it. */
export class InvalidatedCache<Answer> {
  readonly #clock: Clock;
  readonly #mostAge: Micros;
  readonly #kept: LruCache<string, Kept<Answer>>;
  /** Concurrent requests for the same key share one call. */
  readonly #asked = new Map<string, Promise<Answer | null>>();
  readonly #ends: readonly (() => void)[];
  /** Increases with each hint. */
  #version = 0;

  /** @param most maximum number of entries @param mostAge how long an entry is valid without a hint */
  constructor(
    most: number,
    clock: Clock,
    watch: Watch,
    topics: readonly Topic[],
    mostAge: Micros = MOST_AGE,
  ) {
    this.#clock = clock;
    this.#mostAge = mostAge;
    this.#kept = new LruCache(most);
    this.#ends = topics.map((topic) =>
      watch.watch(topic, () => {
        this.#version++;
        this.#kept.clear();
        this.#asked.clear();
      }),
    );
  }

  /** Undefined if the control store must be called: {@link answer} does that. */
  known(key: string): Answer | undefined {
    const kept = this.#kept.get(key);
    return kept !== undefined && this.#isFresh(kept) ? kept.answer : undefined;
  }

  /** @param ask a null result is not cached */
  async answer(key: string, ask: () => Promise<Answer | null>): Promise<Answer | null> {
    const known = this.known(key) ?? this.#asked.get(key);
    if (known !== undefined) return await known;
    const asked = this.#load(key, ask);
    this.#asked.set(key, asked);
    try {
      return await asked;
    } finally {
      // After a hint another request may be stored under this key.
      if (this.#asked.get(key) === asked) this.#asked.delete(key);
    }
  }

  /** Must be called when a request starts. @returns a function that caches its answer, unless a hint came in between */
  asking(): (key: string, answer: Answer) => void {
    const [version, askedAt] = [this.#version, this.#clock.now()];
    return (key, answer) => {
      if (version === this.#version) this.#kept.put(key, { answer, askedAt });
    };
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  async #load(key: string, ask: () => Promise<Answer | null>): Promise<Answer | null> {
    const note = this.asking();
    const answer = await ask();
    if (answer !== null) note(key, answer);
    return answer;
  }

  #isFresh({ askedAt }: Kept<Answer>): boolean {
    const age = this.#clock.now() - askedAt;
    // After the clock was set back the age is unknown.
    return age >= 0 && age < this.#mostAge;
  }
}
