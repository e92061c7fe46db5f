import type { EventRecord } from '../../signal/event.js';
import type { EventPageLimit } from './event-log.js';

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
export interface FactSource {
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
