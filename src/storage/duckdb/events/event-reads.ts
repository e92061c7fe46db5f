import type { EventRecord } from '../../../signal/event.js';
import type { EventCursor, EventPage, EventPageLimit } from '../../event-store.js';
import type { MetaTables } from '../meta/meta-tables.js';
import type { Read } from '../read.js';
import type { Segments } from '../segments.js';
import { pageSize } from './page-size.js';
import type { RecentEvents } from './recent-events.js';
import { readStoredEvents, type TelemetryEvents } from './stored-events.js';

/** What reads go to. */
interface Parts {
  readonly meta: MetaTables;
  readonly segments: Segments;
  readonly recent: RecentEvents;
  readonly read: Read;
}

/** The events of the store for those who read them: of telemetry's files and of the main file. */
export class EventReads {
  readonly #parts: Parts;
  /** What takes back what somebody wants. */
  readonly #wanted = new Map<number, () => void>();
  #lastWanted = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** These types are written for every tenant from now on. @returns a number for {@link unwant} */
  want(types: readonly string[]): number {
    const number = ++this.#lastWanted;
    this.#wanted.set(number, this.#parts.meta.interests.read(types));
    return number;
  }

  unwant(number: number): void {
    this.#wanted.get(number)?.();
    this.#wanted.delete(number);
  }

  /** Where a reader goes on; a new one with what comes from now on. */
  async open(reader: string): Promise<EventCursor> {
    const { meta, segments } = this.#parts;
    return await meta.readers.open(reader, () => segments.lastSeq);
  }

  async save(reader: string, cursor: EventCursor): Promise<void> {
    await this.#parts.meta.readers.save(reader, cursor);
  }

  async read(after: EventCursor, limit: EventPageLimit): Promise<EventPage> {
    const { meta } = this.#parts;
    // Half of a page at most, so that the others need not wait for these to run dry.
    const most = Math.ceil(limit.events / 2);
    const entries = await meta.events.read(after.entry, { ...limit, events: most });
    const telemetry = await this.#readTelemetry(after, {
      ...limit,
      events: limit.events - entries.events.length,
    });
    const found = [...entries.events, ...telemetry.events];
    const page = found.slice(0, pageSize(found.map(bytesOf), limit));
    const commits = page.flatMap((event) => ('commit' in event ? event : []));
    const { commit, place } = commits.at(-1) ?? after;
    const entry = page.findLast((event) => 'entry' in event)?.entry ?? after.entry;
    return {
      events: page.map(({ tenant, event }) => ({ tenant: this.#ownerOf(tenant), event })),
      cursor: { commit, place, entry },
      hasMore: entries.hasMore || telemetry.hasMore || page.length < found.length,
    };
  }

  async #readTelemetry(after: EventCursor, limit: EventPageLimit): Promise<TelemetryEvents> {
    // Whether there are more is asked then.
    if (limit.events === 0) return { events: [], hasMore: true };
    const { recent, read } = this.#parts;
    const remembered = recent.read(after, limit);
    if (remembered !== null) return remembered;
    return await read(async (connection, capture) => {
      const found = await readStoredEvents(connection, capture, after, limit);
      if (!found.hasMore) recent.nothingBehind(found.events.at(-1) ?? after, capture.lastSeq);
      return found;
    });
  }

  #ownerOf(tenant: number | string): string {
    return typeof tenant === 'string' ? tenant : (this.#parts.meta.userOf(tenant) ?? String(tenant));
  }
}

function bytesOf({ event }: { readonly event: EventRecord }): number {
  return Buffer.byteLength(event.body);
}
