// The event log, and how events of a telemetry store get into it.

import type { EventRecord, EventType } from '../../signal/event.js';
import type { Micros } from '../../signal/time.js';
import type { Lease } from './coordination.js';
import { RUN_STATUSES } from '../../signal/span.js';

/** Where a reader is in the log. Opaque: only the store that made it knows what it means. */
export type EventPosition = string;

/** Something that happened once. */
export interface Fact {
  /** Identifies it among the facts of its owner: however often it is appended, it is told once. */
  readonly fact: string;
  /** UUID of the user, or of the organization whose event it is. */
  readonly tenant: string;
  readonly event: EventRecord;
}

/** How far somebody has brought facts into the log. */
export interface SourceMark {
  readonly source: string;
  /** Only the source knows what it means. */
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
  /** The position behind the last of them. */
  readonly next: EventPosition;
  /** Whether there were more already. */
  readonly hasMore: boolean;
}

/** How much one page holds: events, and bytes of their bodies beyond the first event. */
export interface EventPageLimit {
  readonly events: number;
  readonly bytes: number;
}

/**
 * All events in one order, that of the commits that brought them. Whoever has read up to a position misses nothing that comes
 * later. Watchers of `events` are told of new ones. Every method may throw a `ConsumeError` with `storage_unavailable`
 * (retryable).
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
  /** Where a reader goes on. A new reader begins with what comes from now on; that place is noted at once. */
  open(reader: string): Promise<EventPosition>;
  /**
   * @param wait where nothing follows yet, the answer comes when something does, or when this fires; absent: at once. As hints may be
   *   lost, callers let it fire now and then
   * @throws RangeError where the position was not made by this log
   */
  read(after: EventPosition, limit: EventPageLimit, wait?: AbortSignal): Promise<LoggedEvents>;
  /**
   * Notes that a reader, which was opened, has handed on everything up to a position; this never goes back.
   *
   * @param lease under which that was done
   * @returns false, and nothing is noted, where somebody else has taken the lease since
   */
  progress(reader: string, position: EventPosition, lease: Lease): Promise<boolean>;
  /**
   * Says which types are to be written for every user, even where no endpoint subscribes to them. Replaces what the owner wanted
   * before. Watchers of `endpoints` are told.
   *
   * @param until when this ends, so that a process that died does not want anything for ever
   */
  want(owner: string, types: readonly (EventType | '*')[], until: Micros): Promise<void>;
  /** Which types are wanted for every user. */
  wanted(now: Micros): Promise<ReadonlySet<EventType | '*'>>;
  /**
   * Which types are wanted of a user: by {@link want}, and by active endpoints of the organizations that the user belongs to.
   * Watchers of `endpoints` are told when this changes, except when a want expires.
   */
  wantedOf(userId: string, now: Micros): Promise<ReadonlySet<EventType | '*'>>;
  /** Removes the events before a time, whoever has read them. Their facts may then be told again. @returns how many */
  removeBefore(time: Micros): Promise<number>;
}

export const SUBJECT_KINDS = ['trace', 'alert', 'agent', 'prompt', 'endpoint'] as const;

/** What an event tells of. */
export interface EventSubject {
  readonly kind: (typeof SUBJECT_KINDS)[number];
  /** Its id, as the API prints it. */
  readonly id: string;
}

/** Under which key the data of events name what they tell of. */
const PLACES: Readonly<Record<EventType, readonly [kind: EventSubject['kind'], key: string]>> = {
  'agent.created': ['agent', 'id'],
  'alert.fired': ['alert', 'alert_id'],
  'alert.resolved': ['alert', 'alert_id'],
  'prompt.created': ['prompt', 'id'],
  'trace.completed': ['trace', 'trace_id'],
  'trace.failed': ['trace', 'trace_id'],
  'trace.timed_out': ['trace', 'trace_id'],
  'webhook.endpoint.disabled': ['endpoint', 'endpoint_id'],
  'webhook.test': ['endpoint', 'endpoint_id'],
};

/** What an event tells of; null where its body does not say. @param body its envelope */
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

/** For each code of a run's status, the type of event that tells of such an end; null for a run that goes on. */
export const END_TYPES = RUN_STATUSES.map((status) =>
  status === 'running' ? null : (`trace.${status}` as const),
);

/** The types of events that commits of telemetry write. */
export const TELEMETRY_EVENTS: readonly EventType[] = [
  'agent.created',
  ...END_TYPES.filter((type) => type !== null),
];

/** A fact of telemetry, as its store knows it: its user is a number there (`Accounts.findTenants`). */
export interface NumberedFact {
  readonly tenant: number;
  readonly event: EventRecord;
}

/** Facts that follow a mark, in the order of their commits. */
export interface FactPage {
  readonly facts: readonly NumberedFact[];
  /** Behind the last of them. Only the source that made it knows what it means. */
  readonly mark: string;
}

/** Who has facts for the log of events, in an order that stands: a store of telemetry. */
export interface OutboxSource {
  /** Its name among the sources of the log. */
  readonly name: string;
  /**
   * The facts behind a mark: what is committed and not there is not in a later page either.
   *
   * @param mark null for all that there are
   * @param wait where nothing follows yet, it answers when something does, or when this fires; absent: at once
   * @throws RangeError where the mark is none of this source's
   */
  readFacts(mark: string | null, limit: EventPageLimit, wait?: AbortSignal): Promise<FactPage>;
}

/** Told how facts come into the log. */
export interface FactNews {
  /** Facts cannot be brought, again and again until they can; null: they can. */
  failing(error: Error | null): void;
  /** So many facts were of users that there are not, and are not told. */
  passedOver(facts: number): void;
}

/** Facts that are being brought into the log. */
export interface FactIntake {
  /** Begins nothing more, and waits for the page under way. What is left comes when the source is taken again. */
  stop(): Promise<void>;
}
