import { envelope, type EventRecord, type EventType } from '../../src/signal/event.js';
import type {
  EventCursor,
  EventPage,
  EventPageLimit,
  EventStore,
  StoredEvent,
} from '../../src/storage/event-store.js';

/**
 * An event store without a database, for tests of what reads one: it keeps every promise of the interface but
 * durability, and any call can be made to fail. All its events are in one order.
 */
export class MemoryEventStore implements EventStore {
  /** Thrown by the next calls of that method, one by one, with nothing changed. */
  readonly faults: { readonly [Method in 'readEvents' | 'saveEventProgress']: unknown[] } = {
    readEvents: [],
    saveEventProgress: [],
  };
  /** What was asked of `readEvents`: the entry to begin after, and the limit. */
  readonly reads: { readonly after: number; readonly limit: EventPageLimit }[] = [];
  /** What is wanted now. */
  readonly wanted = new Set<EventType | '*'>();
  /** What was asked of `saveEventProgress`: the entry. */
  readonly notes: number[] = [];
  /** How far each reader has come, in entries. */
  readonly progress = new Map<string, number>();
  readonly #events: StoredEvent[] = [];
  readonly #listeners = new Set<() => void>();
  #notesHeld: Promise<void> = Promise.resolve();

  get watchers(): number {
    return this.#listeners.size;
  }

  /** Commits one event for each, with the ids `e1`, `e2` and so on, and calls. @returns them */
  commit(
    ...events: readonly { readonly tenant?: string; readonly type?: EventType; readonly at?: number }[]
  ) {
    const added = events.map(({ tenant = 'a-user', type = 'trace.failed', at = 0 }, index): StoredEvent => {
      const id = `e${this.#events.length + index + 1}`;
      const event = { id, type, timestamp: at, organization_id: null, endpoint_id: null };
      return { tenant, event: { ...event, body: envelope(event, {}) } };
    });
    this.#events.push(...added);
    for (const listener of this.#listeners) listener();
    return added.map(({ event }): EventRecord => event);
  }

  async wantEvents(types: readonly (EventType | '*')[]): Promise<() => Promise<void>> {
    for (const type of types) this.wanted.add(type);
    return async () => {
      for (const type of types) this.wanted.delete(type);
    };
  }

  async openEventReader(reader: string): Promise<EventCursor> {
    const entry = this.progress.get(reader) ?? this.#events.length;
    this.progress.set(reader, entry);
    return cursorAt(entry);
  }

  async readEvents({ entry: after }: EventCursor, limit: EventPageLimit): Promise<EventPage> {
    this.reads.push({ after, limit });
    if (this.faults.readEvents.length > 0) throw this.faults.readEvents.shift();
    const events = this.#events.slice(after, after + limit.events);
    const entry = after + events.length;
    return { events, cursor: cursorAt(entry), hasMore: entry < this.#events.length };
  }

  async saveEventProgress(reader: string, { entry }: EventCursor): Promise<void> {
    this.notes.push(entry);
    if (this.faults.saveEventProgress.length > 0) throw this.faults.saveEventProgress.shift();
    await this.#notesHeld;
    this.progress.set(reader, entry);
  }

  /** Progress is noted no more. @returns what lets it */
  holdNotes(): () => void {
    let release = (): void => undefined;
    this.#notesHeld = new Promise((resolve) => (release = resolve));
    return release;
  }

  watchEvents(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

function cursorAt(entry: number): EventCursor {
  return { commit: 0, place: 0, entry };
}
