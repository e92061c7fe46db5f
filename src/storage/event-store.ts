import type { EventType } from '../signal/event.js';
import type { EventPageLimit, StoredEvent } from './event-log.js';

export type { EventPageLimit, StoredEvent } from './event-log.js';

/** How far a reader of events has come. Only the store that made it knows what it means; it is plain data. */
export interface EventCursor {
  /** Among the events written with telemetry: the commit, and the place within it. */
  readonly commit: number;
  readonly place: number;
  /** Among the others. */
  readonly entry: number;
}

/** Events that follow a cursor, in the order in which they were committed. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** Behind the last of them. */
  readonly cursor: EventCursor;
  /** Whether more were there already. */
  readonly hasMore: boolean;
}

/**
 * The events of a store: facts that are written in the transaction that makes them true, where somebody wants their type.
 * Two orders are kept: that of telemetry's facts and that of the others'; between the two nothing is
 * promised. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface EventStore {
  /**
   * Says which types are written for every user even where no endpoint subscribes to them. Holds from when it resolves.
   *
   * @returns what withdraws it
   */
  wantEvents(types: readonly (EventType | '*')[]): Promise<() => Promise<void>>;
  /**
   * Where a reader goes on. One that was never here begins with what comes from now on, which is noted at once.
   *
   * @param reader names it among the readers of this store
   */
  openEventReader(reader: string): Promise<EventCursor>;
  readEvents(after: EventCursor, limit: EventPageLimit): Promise<EventPage>;
  /** Notes that everything up to the cursor was handed on, by a reader that was opened. Durable when it resolves. */
  saveEventProgress(reader: string, cursor: EventCursor): Promise<void>;
  /** Calls back, in no particular step, after commits that wrote events. @returns what ends it */
  watchEvents(listener: () => void): () => void;
}

/** Finds an event store among extensions. */
export function isEventStore(candidate: unknown): candidate is EventStore {
  return typeof candidate === 'object' && candidate !== null && 'readEvents' in candidate;
}
