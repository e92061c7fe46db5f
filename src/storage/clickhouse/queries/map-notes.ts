import { LRUCache } from 'lru-cache';
import type { Micros } from '../../../signal/time.js';
import { MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE } from '../../../signal/time-units.js';
import type { Reads } from '../client/reads.js';
import { notesOf, unnotedDays, type Days } from './map-days.js';

/** How often it is looked which days of a user are to be noted, at most. */
const EVERY: Micros = 10 * MICROS_PER_MINUTE;
/** What a day gets so long after its end is late: until then it is not worth noting. */
const SETTLED_AFTER: Micros = 2 * MICROS_PER_HOUR;
/** Users of whom is known when it was looked. */
const REMEMBERED = 10_000;

export interface MapNoteParts {
  readonly reads: Reads;
  /** Runs a statement that answers nothing. */
  readonly command: (sql: string) => Promise<void>;
  readonly now: () => Micros;
}

/**
 * Notes what days add to the map, for users who ask for a long time: after the answer, one user after the other. Several processes may do it at
 * the same time, and whatever fails is done the next time: notes only make answers faster.
 */
export class MapNotes {
  readonly #parts: MapNoteParts;
  readonly #looked = new LRUCache<number, Micros>({ max: REMEMBERED });
  #working: Promise<void> = Promise.resolve();

  constructor(parts: MapNoteParts) {
    this.#parts = parts;
  }

  /** To be called when days were asked for. */
  asked(tenant: number, { first, last }: Days): void {
    const now = this.#parts.now();
    if (now - (this.#looked.get(tenant) ?? -Infinity) < EVERY) return;
    this.#looked.set(tenant, now);
    const ended = Math.floor((now - SETTLED_AFTER) / MICROS_PER_DAY) - 1;
    const days = { first, last: Math.min(last, ended) };
    this.#working = this.#working.then(() => this.#note(tenant, days)).catch(() => undefined);
  }

  /** Resolves when nothing is noted any more. */
  async idle(): Promise<void> {
    await this.#working;
  }

  async #note(tenant: number, days: Days): Promise<void> {
    const { reads, command } = this.#parts;
    const unnoted = await reads.rows(unnotedDays(tenant, days));
    const found = unnoted.map(({ day, print }) => ({ day: Number(day), print: String(print) }));
    for (const statement of notesOf(tenant, found)) await command(statement);
  }
}
