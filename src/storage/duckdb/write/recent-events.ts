import type { Micros } from '../../../signal/time.js';
import type { EventPageLimit } from '../../contracts/events.js';
import { isBehind, LAST_PLACE, type EventPlace } from './event-place.js';
import { pageSize } from './page-size.js';
import type { TelemetryEvent, TelemetryEvents } from './stored-events.js';

/** Maximum number of cached events, and maximum bytes of their bodies. */
export interface RecentSize {
  readonly events: number;
  readonly bytes: number;
}

export const RECENT_SIZE: RecentSize = { events: 2000, bytes: 8 * 1024 * 1024 };

/**
 * Cache of the newest telemetry events, so that an up-to-date reader does not read the database. Events are added in the same
 * synchronous step in which their commit becomes visible, so reads of the files are consistent with the cache.
 */
export class RecentEvents {
  readonly #size: RecentSize;
  /** In their order. */
  #events: TelemetryEvent[] = [];
  #bytes = 0;
  /** All events after this place are cached, except those removed by retention. */
  #from: EventPlace;
  readonly #listeners = new Set<() => void>();

  /** @param lastCommit the last commit made so far */
  constructor(lastCommit: number, size: RecentSize) {
    this.#from = { commit: lastCommit, place: LAST_PLACE };
    this.#size = size;
  }

  /** @param listener called for new events; it may read them immediately @returns a function that removes the listener */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Adds the events of a new commit, in order. */
  add(events: readonly TelemetryEvent[]): void {
    this.#remember(events);
    if (events.length > 0) for (const listener of this.#listeners) listener();
  }

  #remember(events: readonly TelemetryEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += event.bytes;
    }
    let [bytes, dropped] = [this.#bytes, 0];
    for (const event of this.#events) {
      if (this.#events.length - dropped <= this.#size.events && bytes <= this.#size.bytes) break;
      bytes -= event.bytes;
      dropped++;
    }
    const last = this.#events[dropped - 1];
    if (last === undefined) return;
    this.#from = { commit: last.commit, place: last.place };
    this.#events.splice(0, dropped);
    this.#bytes = bytes;
  }

  /**
   * The events after a place, in the form of `readStoredEvents`.
   *
   * @param limit at least one event
   * @returns null if some of them may only be in the files
   */
  read(after: EventPlace, limit: EventPageLimit): TelemetryEvents | null {
    if (isBehind(this.#from, after)) return null;
    // Searched from the end, because an up-to-date reader is only a few events behind.
    const first = this.#events.findLastIndex((event) => !isBehind(event, after)) + 1;
    const some = this.#events.slice(first, first + limit.events + 1);
    const count = pageSize(
      some.map(({ bytes }) => bytes),
      limit,
    );
    return { events: some.slice(0, count), hasMore: count < some.length };
  }

  /**
   * Notes that the files, as of a commit, have no event after a place. Readers that start there or have just reached the end can
   * then be served from the cache.
   */
  nothingBehind(place: EventPlace, lastCommit: number): void {
    if (this.#from.commit <= lastCommit && isBehind(this.#from, place))
      this.#from = { commit: place.commit, place: place.place };
  }

  /** Drops events before a time that retention removed from the files, up to a commit. */
  forgetBefore(time: Micros, lastCommit: number): void {
    this.#events = this.#events.filter(({ commit, event }) => commit > lastCommit || event.timestamp >= time);
    this.#bytes = this.#events.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
