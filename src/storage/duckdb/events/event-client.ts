import type { EventType } from '../../../signal/event.js';
import type { EventCursor, EventPage, EventPageLimit, EventStore } from '../../event-store.js';
import { MetaClient } from '../meta/meta-client.js';
import type { EventMethod } from '../store-thread.js';

/** The {@link EventStore} of the daemon's thread: it asks the store thread, and tells of what was written. */
export abstract class EventClient extends MetaClient implements EventStore {
  readonly #eventListeners = new Set<() => void>();

  /** Calls a method of `EventReads` in the store thread. */
  protected abstract events<T>(method: EventMethod, ...args: unknown[]): Promise<T>;

  async wantEvents(types: readonly (EventType | '*')[]): Promise<() => Promise<void>> {
    const number = await this.events<number>('want', types);
    return async () => {
      await this.events('unwant', number);
    };
  }

  async openEventReader(reader: string): Promise<EventCursor> {
    return await this.events('open', reader);
  }

  async readEvents(after: EventCursor, limit: EventPageLimit): Promise<EventPage> {
    return await this.events('read', after, limit);
  }

  async saveEventProgress(reader: string, cursor: EventCursor): Promise<void> {
    await this.events('save', reader, cursor);
  }

  watchEvents(listener: () => void): () => void {
    // One for each call, even where the same function comes twice.
    const call = (): void => {
      listener();
    };
    this.#eventListeners.add(call);
    return () => {
      this.#eventListeners.delete(call);
    };
  }

  /** After a commit that wrote events. */
  protected tellOfEvents(): void {
    for (const listener of this.#eventListeners) listener();
  }
}
