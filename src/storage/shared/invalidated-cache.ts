import type { Clock } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';
import type { Topic, Watch } from '../contracts/coordination.js';
import { LruCache } from './lru-cache.js';

/** A hint may be lost: after this time one asks again all the same, unless a shorter one is given. */
const MOST_AGE: Micros = 30 * MICROS_PER_SECOND;

interface Kept<Answer> {
  readonly answer: Answer;
  readonly askedAt: Micros;
}

/**
 * Answers of the control plane, as many as were used last, until a hint says that they may have changed. Who asks after a hint never
 * gets what was asked for before it.
 */
export class InvalidatedCache<Answer> {
  readonly #clock: Clock;
  readonly #mostAge: Micros;
  readonly #kept: LruCache<string, Kept<Answer>>;
  /** Those who ask the same at the same time share the question. */
  readonly #asked = new Map<string, Promise<Answer | null>>();
  readonly #ends: readonly (() => void)[];
  /** Grows with each hint. */
  #version = 0;

  /** @param most answers that are kept @param mostAge how long an answer holds without any hint */
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

  /** Undefined where the control plane has to be asked: {@link answer} does. */
  known(key: string): Answer | undefined {
    const kept = this.#kept.get(key);
    return kept !== undefined && this.#isFresh(kept) ? kept.answer : undefined;
  }

  /** @param ask null is not remembered */
  async answer(key: string, ask: () => Promise<Answer | null>): Promise<Answer | null> {
    const known = this.known(key) ?? this.#asked.get(key);
    if (known !== undefined) return await known;
    const asked = this.#load(key, ask);
    this.#asked.set(key, asked);
    try {
      return await asked;
    } finally {
      // After a hint another question may stand in its place.
      if (this.#asked.get(key) === asked) this.#asked.delete(key);
    }
  }

  /** To be called when somebody begins to ask. @returns what notes an answer to that, unless a hint came since */
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
    // A clock that was put back says nothing of how old it is.
    return age >= 0 && age < this.#mostAge;
  }
}
