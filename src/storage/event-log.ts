import type { EventRecord, EventType } from '../signal/event.js';
import type { Micros } from '../signal/time.js';
import type { Lease } from './leases.js';

/** Where a reader is in the log. Opaque: only the store that made it knows what it means. */
export type EventPosition = string;

/** Something that happened once. */
export interface Fact {
  /** Names it among the facts of its owner: however often it is appended, it is told once. */
  readonly fact: string;
  /** UUID of the user, or of the organization whose event it is. */
  readonly tenant: string;
  readonly event: EventRecord;
}

/** How far somebody has brought facts into the log. */
export interface SourceMark {
  readonly source: string;
  /** What it means is the source's own. */
  readonly mark: string;
}

/** An event, and whose it is. */
export interface StoredEvent {
  /** As in a batch: the user's UUID, or that of the organization whose event it is. */
  readonly tenant: string;
  readonly event: EventRecord;
}

/** Events that follow a position. */
export interface LoggedEvents {
  readonly events: readonly StoredEvent[];
  /** Behind the last of them. */
  readonly next: EventPosition;
  /** Whether more were there already. */
  readonly hasMore: boolean;
}

/** How much one page holds: events, and bytes of their bodies beyond the first event. */
export interface EventPageLimit {
  readonly events: number;
  readonly bytes: number;
}

/**
 * All events, in one order: that of the commits that brought them. Who has read up to a position misses nothing that comes later.
 * Watchers of `events` are told of new ones. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface EventLog {
  /**
   * Adds facts in their order, and notes the mark, in one transaction that is durable when it resolves.
   *
   * @returns how many are new; the others were there already and stay as they are
   */
  append(facts: readonly Fact[], mark?: SourceMark): Promise<number>;
  /** The mark that a source left last; null where it left none. */
  markOf(source: string): Promise<string | null>;
  /** Where a reader goes on. One that was never here begins with what comes from now on, which is noted at once. */
  open(reader: string): Promise<EventPosition>;
  /** @throws RangeError where the position is none of this log's */
  read(after: EventPosition, limit: EventPageLimit): Promise<LoggedEvents>;
  /**
   * Notes that everything up to a position was handed on, by a reader that was opened; it never goes back.
   *
   * @param lease under which that was done
   * @returns false, and nothing noted, where somebody took the lease since
   */
  progress(reader: string, position: EventPosition, lease: Lease): Promise<boolean>;
  /**
   * Says which types are to be written for every user, even where no endpoint subscribes to them, in place of what the owner wanted before.
   * Watchers of `endpoints` are told.
   *
   * @param until it holds so long, so that a process that died wants nothing for ever
   */
  want(owner: string, types: readonly (EventType | '*')[], until: Micros): Promise<void>;
  /** What is wanted for every user. */
  wanted(now: Micros): Promise<ReadonlySet<EventType | '*'>>;
  /**
   * What is wanted of a user: by what {@link want} said, and by active endpoints of the organizations that the user belongs to. Watchers
   * of `endpoints` are told when it changes, but for what ends by itself.
   */
  wantedOf(userId: string, now: Micros): Promise<ReadonlySet<EventType | '*'>>;
  /** Removes the events of before, whoever has read them. Their facts may then be told again. @returns how many */
  removeBefore(time: Micros): Promise<number>;
}
