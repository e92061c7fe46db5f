import type { Micros } from '../../../signal/time.js';
import type { EventPageLimit } from '../../event-log.js';
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
 * The last events of telemetry, so that a reader that keeps up asks the database nothing. It is told of them in the step in
 * which their commit begins to be seen: a read of the files that begins at any moment sees the same.
 */
export class RecentEvents {
  readonly #size: RecentSize;
  /** In their order. */
  #events: TelemetryEvent[] = [];
  #bytes = 0;
  /** All events behind it are here, as far as retention has left them. */
  #from: EventPlace;

  /** @param lastCommit the last that was made before */
  constructor(lastCommit: number, size: RecentSize) {
    this.#from = { commit: lastCommit, place: LAST_PLACE };
    this.#size = size;
  }

  /** The events of a commit that was just made, in their order. */
  add(events: readonly TelemetryEvent[]): void {
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
   * Those behind a place, as `readStoredEvents` gives them.
   *
   * @param limit at least one event
   * @returns null where some of them may be in the files only
   */
  read(after: EventPlace, limit: EventPageLimit): TelemetryEvents | null {
    if (isBehind(this.#from, after)) return null;
    // From the end: a reader that keeps up is a few events away from it.
    const first = this.#events.findLastIndex((event) => !isBehind(event, after)) + 1;
    const some = this.#events.slice(first, first + limit.events + 1);
    const count = pageSize(
      some.map(({ bytes }) => bytes),
      limit,
    );
    return { events: some.slice(0, count), hasMore: count < some.length };
  }

  /**
   * The files have no event behind a place, as of a commit: a reader that has read nothing since the start, or has just
   * come to the end, is answered from here, too.
   */
  nothingBehind(place: EventPlace, lastCommit: number): void {
    if (this.#from.commit <= lastCommit && isBehind(this.#from, place))
      this.#from = { commit: place.commit, place: place.place };
  }

  /** The events before a time were removed, as far as they are of these commits. */
  forgetBefore(time: Micros, lastCommit: number): void {
    this.#events = this.#events.filter(({ commit, event }) => commit > lastCommit || event.timestamp >= time);
    this.#bytes = this.#events.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
