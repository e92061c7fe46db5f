import type { Micros } from '../../../signal/time.js';
import type { EventPageLimit } from '../../contracts/events.js';
import { isBehind, LAST_PLACE, type EventPlace } from './event-place.js';
import { pageSize } from './page-size.js';
import type { TelemetryEvent, TelemetryEvents } from './stored-events.js';

/** How many events are remembered at most, and how many bytes of their bodies. */
export interface RecentSize {
  readonly events: number;
  readonly bytes: number;
}

export const RECENT_SIZE: RecentSize = { events: 2000, bytes: 8 * 1024 * 1024 };

/**
 * The newest events of telemetry, so that a reader that keeps up needs no look at the database. They are added in the step in
 * which their commit becomes visible, so a read of the files that begins at any moment sees the same.
 */
export class RecentEvents {
  readonly #size: RecentSize;
  /** In their order. */
  #events: TelemetryEvent[] = [];
  #bytes = 0;
  /** All events behind this place are here, as far as retention has left them. */
  #from: EventPlace;
  readonly #listeners = new Set<() => void>();

  /** @param lastCommit the last commit made so far */
  constructor(lastCommit: number, size: RecentSize) {
    this.#from = { commit: lastCommit, place: LAST_PLACE };
    this.#size = size;
  }

  /** @param listener called when there are new ones; it may read them at once @returns a function that ends it */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Adds the events of a commit that was just made, in their order. */
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
   * The events behind a place, as `readStoredEvents` gives them.
   *
   * @param limit at least one event
   * @returns null where some of them may be in the files only
   */
  read(after: EventPlace, limit: EventPageLimit): TelemetryEvents | null {
    if (isBehind(this.#from, after)) return null;
    // Searched from the end, since a reader that keeps up is only a few events away from it.
    const first = this.#events.findLastIndex((event) => !isBehind(event, after)) + 1;
    const some = this.#events.slice(first, first + limit.events + 1);
    const count = pageSize(
      some.map(({ bytes }) => bytes),
      limit,
    );
    return { events: some.slice(0, count), hasMore: count < some.length };
  }

  /**
   * Notes that the files, as of a commit, have no event behind a place: so a reader that has read nothing since the start, or has
   * just come to the end, can be answered from here, too.
   */
  nothingBehind(place: EventPlace, lastCommit: number): void {
    if (this.#from.commit <= lastCommit && isBehind(this.#from, place))
      this.#from = { commit: place.commit, place: place.place };
  }

  /** Forgets the events before a time, which were removed from the files as far as they belong to these commits. */
  forgetBefore(time: Micros, lastCommit: number): void {
    this.#events = this.#events.filter(({ commit, event }) => commit > lastCommit || event.timestamp >= time);
    this.#bytes = this.#events.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
