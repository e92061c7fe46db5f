// The event log, and the transfer of a telemetry store's events into it.

import type { EventRecord, EventType } from '../../signal/event.js';
import type { Micros } from '../../signal/time.js';
import type { Lease } from './coordination.js';
import { RUN_STATUSES } from '../../signal/span.js';

/** A reader's position in the log. Opaque: only the store that created it can interpret it. */
export type EventPosition = string;

/** Something that happened once. */
export interface Fact {
  /** Unique among the facts of its owner: however often it is appended, it is written once. */
  readonly fact: string;
  /** UUID of the user, or of the organization that the event belongs to. */
  readonly tenant: string;
  readonly event: EventRecord;
  /** Another fact of this owner: if an earlier append wrote it, this fact is not written. */
  readonly unless?: string;
}

/** How far a source's facts have been copied into the log. */
export interface SourceMark {
  readonly source: string;
  /** Opaque to everyone but the source. */
  readonly mark: string;
}

/** An event with its owner. */
export interface StoredEvent {
  /** As in a batch: UUID of the user, or of the organization that the event belongs to. */
  readonly tenant: string;
  readonly event: EventRecord;
}

/** Events after a position. */
export interface LoggedEvents {
  readonly events: readonly StoredEvent[];
  /** The position after the last of them. */
  readonly next: EventPosition;
  /** Whether more events followed when this page was read. */
  readonly hasMore: boolean;
}

/** Page size: number of events, and bytes of their bodies beyond the first event. */
export interface EventPageLimit {
  readonly events: number;
  readonly bytes: number;
}

/**
 * All events in the order of their commits. A reader at a position misses no later event. Watchers of `events` are notified of new ones.
 * Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface EventLog {
  /**
   * Appends facts in order, and records the mark, in one transaction that is durable when it resolves.
   *
   * @returns the number of new facts; existing ones do not change
   */
  append(facts: readonly Fact[], mark?: SourceMark): Promise<number>;
  /** The last mark of a source; null if absent. */
  markOf(source: string): Promise<string | null>;
  /** The position of a reader. A new reader starts with the next event; its position is recorded at once. */
  open(reader: string): Promise<EventPosition>;
  /**
   * @param wait if there is no next event, the call waits for one, or until this fires; absent: returns at once. Hints may be lost, so
   * callers should let it fire from time to time
   * @throws RangeError if this log did not create the position
   */
  read(after: EventPosition, limit: EventPageLimit, wait?: AbortSignal): Promise<LoggedEvents>;
  /**
   * Records that an opened reader has processed everything up to a position; it never moves back.
   *
   * @param lease under which that was done
   * @returns false, with nothing recorded, if another process has taken the lease since
   */
  progress(reader: string, position: EventPosition, lease: Lease): Promise<boolean>;
  /**
   * Requests event types for all users, even without an endpoint that subscribes to them. Replaces the owner's earlier request. Watchers
   * of `endpoints` are notified.
   *
   * @param until when this expires, so that requests of dead processes end
   */
  want(owner: string, types: readonly (EventType | '*')[], until: Micros): Promise<void>;
  /** The types requested for all users. */
  wanted(now: Micros): Promise<ReadonlySet<EventType | '*'>>;
  /**
   * The types requested for a user: by {@link want}, and by active endpoints of the user's organizations. Watchers of `endpoints` are
   * notified when this changes, except when a request expires.
   */
  wantedOf(userId: string, now: Micros): Promise<ReadonlySet<EventType | '*'>>;
  /**
   * Removes the events before a time, whether or not they were read. Their facts could then be appended again. @returns how many
   */
  removeBefore(time: Micros): Promise<number>;
}

export const SUBJECT_KINDS = ['trace', 'alert', 'agent', 'prompt', 'endpoint'] as const;

/** The subject of an event. */
export interface EventSubject {
  readonly kind: (typeof SUBJECT_KINDS)[number];
  /** Its id, as the API returns it. */
  readonly id: string;
}

/** The key in an event's data that identifies its subject. */
const PLACES: Readonly<Record<EventType, readonly [kind: EventSubject['kind'], key: string]>> = {
  'agent.created': ['agent', 'id'],
  'alert.fired': ['alert', 'alert_id'],
  'alert.resolved': ['alert', 'alert_id'],
  'prompt.created': ['prompt', 'id'],
  'prompt.label.moved': ['prompt', 'id'],
  'score.created': ['trace', 'trace_id'],
  'trace.completed': ['trace', 'trace_id'],
  'trace.failed': ['trace', 'trace_id'],
  'trace.timed_out': ['trace', 'trace_id'],
  'webhook.endpoint.disabled': ['endpoint', 'endpoint_id'],
  'webhook.test': ['endpoint', 'endpoint_id'],
};

/** The subject of an event; null if its body does not contain it. @param body the event's envelope */
export function subjectOf(type: EventType, body: string): EventSubject | null {
  const [kind, key] = PLACES[type];
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch {
    return null;
  }
  const { data } = (read ?? {}) as { readonly data?: Readonly<Record<string, unknown>> | null };
  const id = data?.[key];
  return typeof id === 'string' ? { kind, id } : null;
}

/** The event type for each run status code; null for a run that has not ended. */
export const END_TYPES = RUN_STATUSES.map((status) =>
  status === 'running' ? null : (`trace.${status}` as const),
);

/** The event types that writes of telemetry emit. */
export const TELEMETRY_EVENTS: readonly EventType[] = [
  'agent.created',
  'score.created',
  ...END_TYPES.filter((type) => type !== null),
];

/** A fact of telemetry; its user is a tenant number (`Accounts.findTenants`). */
export interface NumberedFact {
  readonly tenant: number;
  readonly event: EventRecord;
}

/** Facts after a mark, in the order of their commits. */
export interface FactPage {
  readonly facts: readonly NumberedFact[];
  /** The position after the last of them. Opaque to everyone but the source. */
  readonly mark: string;
}

/** A source of facts for the event log, in a stable order: a telemetry store. */
export interface OutboxSource {
  /** Unique among the sources of the log. */
  readonly name: string;
  /**
   * The facts after a mark. Later pages never contain facts committed before this one.
   *
   * @param mark null for all facts
   * @param wait if there are none, the call waits for one, or until this fires; absent: returns at once
   * @throws RangeError if this source did not create the mark
   */
  readFacts(mark: string | null, limit: EventPageLimit, wait?: AbortSignal): Promise<FactPage>;
}

/** Reports on the copying of facts into the log. */
export interface IntakeListener {
  /** Called on every failed attempt; null: copying works again. */
  failing(error: Error | null): void;
  /** Number of facts skipped because their users do not exist. */
  passedOver(facts: number): void;
}

/** A running copy of facts into the log. */
export interface FactIntake {
  /** Stops after the current page. The remaining facts are copied when the source is taken again. */
  stop(): Promise<void>;
}
