import type { EventPageLimit } from '../../contracts/events.js';
import type { Read } from '../segments/read.js';
import type { EventPlace } from './event-place.js';
import type { RecentEvents } from './recent-events.js';
import { readStoredEvents, type TelemetryEvents } from './stored-events.js';

/** The sources of event reads. */
interface Parts {
  readonly recent: RecentEvents;
  readonly read: Read;
}

/** Reads telemetry events in order. Users are identified by tenant numbers. */
export class EventReads {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The events after a place. @param limit at least one event */
  async read(after: EventPlace, limit: EventPageLimit): Promise<TelemetryEvents> {
    const { recent, read } = this.#parts;
    const remembered = recent.read(after, limit);
    if (remembered !== null) return remembered;
    return await read(async (connection, capture) => {
      const found = await readStoredEvents(connection, capture, after, limit);
      if (!found.hasMore) recent.nothingBehind(found.events.at(-1) ?? after, capture.lastSeq);
      return found;
    });
  }
}
