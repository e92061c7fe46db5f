// How processes that share stores work together: leases, hints of changes, the log of writes, numbered agents, published limits.

import type { Micros } from '../../signal/time.js';

/** Somebody's right to do a piece of work alone, for a time. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Grows each time the name is taken. What the work changes is fenced by it: a holder that was too slow changes nothing. */
  readonly token: number;
}

/**
 * Who does what only one may do at a time. A lease that is not renewed ends by itself, and the next who asks gets it. Every
 * method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Leases {
  /**
   * @param owner names the process, unlike any other that is or was; taking what it already holds gives a new token
   * @param ms how long it holds, in milliseconds
   * @returns null while somebody else has it
   */
  take(name: string, owner: string, ms: number): Promise<Lease | null>;
  /** Holds it for so many milliseconds from now. @returns false where somebody took it meanwhile, or it was given back */
  renew(lease: Lease, ms: number): Promise<boolean>;
  /** Gives it back, so that others need not wait for its end. Does nothing where somebody took it meanwhile. */
  release(lease: Lease): Promise<void>;
}

/**
 * What may change while somebody watches. `endpoints` stands for everything that decides which events are wanted of whom: also
 * who belongs to which organization, and what readers want (`EventLog.want`).
 */
export const TOPICS = [
  'keys',
  'logins',
  'prompts',
  'events',
  'endpoints',
  'terms',
  'rules',
  'notices',
  'deliveries',
] as const;

export type Topic = (typeof TOPICS)[number];

/**
 * Hints that something has changed. They come after the commit; one hint may stand for many changes, and one may be lost: whoever
 * must know also has to ask from time to time.
 */
export interface Watch {
  /**
   * @param listener must not throw
   * @returns a function that stops watching
   */
  watch(topic: Topic, listener: () => void): () => void;
}

/** Traces that one write may touch: some 40 MB in its row. Groups of requests have a hundredth of that. */
export const MOST_TRACES = 1_000_000;
/** Charges that one write may have. */
export const MOST_CHARGES = 100_000;

/** A trace that a write touches. */
export interface TouchedTrace {
  /** The number of its user: `Accounts.findTenants`. */
  readonly tenant: number;
  /** UUID in lower case. */
  readonly traceId: string;
}

/** Items that a write may add to what a user has used. */
export interface Charge {
  readonly tenant: number;
  /** When they came, which decides the month and the day that they count for. */
  readonly at: Micros;
  /** How many may be new: at most, or exactly where {@link isExact} says so. None are always taken. */
  readonly items: number;
  readonly isExact: boolean;
  /** Items a month; null for no limit. */
  readonly limit: number | null;
}

/** What became of a charge. */
export type Charged =
  | 'taken'
  /** It may pass the limit, or may not, as it says no exact number: it has to be asked again with that. */
  | 'inexact'
  /** It would not pass the limit if what other writes may add was not: they will have ended soon. */
  | 'waits'
  /** It passes the limit, by what is settled and what it brings. */
  | 'exceeds';

/** A batch of items without ids, to which its sender gave a name, so that a repeat of it adds nothing. */
export interface NamedBatch {
  readonly tenant: number;
  /** A UUID: `nameOfBatch`. */
  readonly name: string;
}

/** What is known of a named batch when a write of it is to begin. */
export interface BatchStanding {
  readonly as:
    | 'new'
    /** A write of it has begun and did not end well: what it brings may be stored, as a whole or in part. */
    | 'begun'
    /** Somebody is writing it: no other write is noted. */
    | 'under_way'
    /** It was written: no other write is noted. */
    | 'written';
  /** Of one that was written: the positions of the items that were refused, ascending. */
  readonly refused: readonly number[];
}

/** A write that is under way. */
export interface OpenWrite {
  /** Grows from write to write: the order in which what they brought counts. */
  readonly number: number;
  /** The process that does it, unlike any other that is or was. */
  readonly owner: string;
  /** Grows each time it is taken over: who had it before changes nothing, even if it is the same process. */
  readonly token: number;
}

/** A write as it is begun. */
export interface NewWrite {
  /** The identity of the store of telemetry that is written to. */
  readonly store: string;
  readonly owner: string;
  /** How long it holds unless it is renewed, in milliseconds: then another may finish it. */
  readonly leaseMs: number;
  /** Up to {@link MOST_TRACES}. */
  readonly traces: readonly TouchedTrace[];
  /** Up to {@link MOST_CHARGES}. */
  readonly charges: readonly Charge[];
  /** What it writes, where that has a name. */
  readonly batch?: NamedBatch;
}

/** What {@link WriteIntentLog.begin} answers. */
export interface BegunWrite {
  /** Null where none of its charges was taken although there were some, or its batch is being written or was: nothing is noted then. */
  readonly write: OpenWrite | null;
  /** Null where the write names no batch. */
  readonly batch: BatchStanding | null;
  /** For each charge in its order, with what was settled of its month: {@link Charge.at}. None where the batch was not taken. */
  readonly charged: readonly { readonly as: Charged; readonly used: number }[];
}

/**
 * Items that were found to be new. They are counted as they are; the charges of the write are given back as a whole.
 */
export interface SettledItems {
  readonly tenant: number;
  /** That of the charge. */
  readonly at: Micros;
  readonly items: number;
}

/** A write that another process did not finish. */
export interface TakenWrite {
  readonly write: OpenWrite;
  readonly traces: readonly TouchedTrace[];
  /** Those that were taken. */
  readonly charges: readonly Charge[];
}

/** The items of a user that were counted in a period. */
export interface ChargedItems {
  /** A month as `month.ts` numbers it, or a day as days since 1970. */
  readonly period: number;
  readonly items: number;
}

/**
 * The book of the writes to a store of telemetry of which several processes write at the same time, and which has no transactions over
 * more than one table. A write is noted before anything of it is stored, so that what a process leaves unfinished is finished by another
 * ({@link takeOver}); it pays for what it may bring, and gets back what was no news. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable). Where the connection was lost during a commit, all may be done nevertheless: a write that `begin` noted
 * so is taken over when its lease ends, and a repeat of `finish` finds that it has ended.
 *
 * The store makes of its facts what follows, as a function of all of them, so that it does not matter who does it and how often; but only the
 * last one who looked has seen everything. Who has looked later is told by **tickets**: one is taken after everything of a write is stored and
 * before the facts are read back. The greatest ticket has seen all writes whose tickets are smaller.
 */
export interface WriteIntentLog {
  /**
   * Notes a write and what it may cost. A charge that is not taken counts for nothing: what it is for must not be written. All charges of
   * a write are judged one after the other, as if those before it in the list had been taken by others. Those of several writes never pass
   * a limit together.
   *
   * @throws RangeError where items are no whole number from 0, or there are more traces or charges than a write may have
   */
  begin(write: NewWrite): Promise<BegunWrite>;
  /**
   * Holds it for so many milliseconds from now, also where its lease has ended and nobody has taken it over.
   *
   * @returns false where it was taken over, or it has ended
   */
  renew(write: OpenWrite, leaseMs: number): Promise<boolean>;
  /**
   * A ticket greater than any that was given before, to whichever write. The first one of a write is kept with it, whoever takes further
   * ones. When this resolves, {@link firstTickets} has all tickets that are smaller: a write that has none there will get a greater one.
   *
   * @returns null where the write was taken over, or it has ended
   */
  ticket(write: OpenWrite): Promise<number | null>;
  /**
   * The first tickets of writes, by their numbers: null for one that has none yet, or ended without. Writes that ended a while ago
   * ({@link forgetEnded}) are not there any more: theirs were smaller than the first ticket of any write under way. That of the asker's own
   * write is to be compared.
   */
  firstTickets(store: string, numbers: readonly number[]): Promise<ReadonlyMap<number, number | null>>;
  /** The numbers of writes that are under way, whoever does them, and whether or not their leases have ended. */
  openWrites(store: string): Promise<readonly number[]>;
  /**
   * Ends a write: what is new is counted, and its charges are given back. Of a charge that `items` does not name nothing is new.
   *
   * @param batch that of the write, now that it is stored; without it a repeat is taken as `begun`
   * @returns what is settled since of the months of the charges that were taken, in their order; null where the write was taken over, it has
   *   ended, or another write has its batch now: then nothing is changed
   * @throws RangeError where items are no whole number from 0
   */
  finish(
    write: OpenWrite,
    items: readonly SettledItems[],
    batch?: NamedBatch & Pick<BatchStanding, 'refused'>,
  ): Promise<readonly number[] | null>;
  /**
   * Takes writes over whose leases have ended, the oldest first: those who had them can finish them no more. They may be the asker's own,
   * which it has given up or was too slow for.
   *
   * @param owner as in {@link NewWrite}
   * @param most all traces of so many are answered at once
   */
  takeOver(store: string, owner: string, leaseMs: number, most: number): Promise<readonly TakenWrite[]>;
  /**
   * Forgets writes that ended at least so long ago, by the clock that judges leases. One whose first ticket is greater than that of a write
   * under way is kept until that has ended, as it may be asked for.
   *
   * @returns how many
   */
  forgetEnded(store: string, ageMs: number): Promise<number>;
  /**
   * Forgets the names of batches that were first heard of so long ago, and of each user all but the newest.
   *
   * @returns how many
   */
  forgetBatches(store: string, ageMs: number, mostOfUser: number): Promise<number>;
  /**
   * What is settled of a user, in the order of the months: exactly, as soon as {@link finish} has resolved. It never sinks. Months without
   * items are left out.
   *
   * @param months numbers of `month.ts`
   */
  months(store: string, tenant: number, months: readonly number[]): Promise<readonly ChargedItems[]>;
  /** Likewise by days, both ends included. */
  days(store: string, tenant: number, from: number, to: number): Promise<readonly ChargedItems[]>;
  /** The first day of which anything was counted, of any user; null: of none. Before it nobody knows of days. */
  firstDay(store: string): Promise<number | null>;
}

/** A name under which runs of a user are counted. */
export interface InternedAgent {
  readonly tenant: number;
  /** From 1, unlike that of any other name of any user. */
  readonly number: number;
  /** UUIDv7 */
  readonly id: string;
  readonly name: string;
  /**
   * When the agent came into being. Null while it is only named by runs whose agent may still turn out to be another one
   * (`src/runs/README.md`, "Runs that nobody declared"), or that are no agent's.
   */
  readonly created_at: Micros | null;
}

/** What a run says of its agent. */
export interface NamedAgent {
  readonly tenant: number;
  readonly name: string;
  /** When it came. */
  readonly at: Micros;
  /** Whether the run is an agent's and certainly belongs to this one, so that the agent comes into being. */
  readonly comesIntoBeing: boolean;
}

/** The name under which runs are counted whose user has no room for the agent that they name. */
export const OTHER_AGENTS = '(other)';

/**
 * Numbers and ids for the names of agents, where a store of telemetry that several processes write to has no place of its own that could
 * give a name to only one of them. Numbers, ids and names are never changed and never removed. A name has one number, whether it is an
 * agent's or not. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface InternedAgents {
  /**
   * The agents that runs name, in the order of the runs; names that are new are added, and agents come into being. With `most` names a user
   * has no room for more: its further ones are `(other)`, which comes on top.
   *
   * @param store the identity of the store of telemetry
   */
  number(store: string, runs: readonly NamedAgent[], most: number): Promise<readonly InternedAgent[]>;
  /** All names of a user, in the order of their numbers. */
  ofTenant(store: string, tenant: number): Promise<readonly InternedAgent[]>;
}

/** How a process evaluates alerts. */
export interface AlertingSettings {
  readonly windowMs: number;
  /** With fewer runs (or spans) in the window it says nothing. */
  readonly minSamples: number;
  /** An IANA name: the time zone of the days of `cost_threshold`. */
  readonly timezone: string;
}

/** What a process lets each user store in a month who has no limit of its own. */
export interface QuotaSettings {
  /** The identity of the telemetry store that counts. */
  readonly store: string;
  /** 0: any number. */
  readonly monthly_events: number;
}

/** What a process goes by, as its configuration says. It does not do what is absent. */
export interface PublishedSettings {
  readonly quota?: QuotaSettings;
  /** Private addresses to which webhooks may be sent. */
  readonly targets?: { readonly allow_cidrs: readonly string[] };
  readonly alerting?: AlertingSettings;
}

/**
 * What the processes that share a store go by, so that others can tell users. Watchers of `terms` are told of changes. Every
 * method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface SettingsBoard {
  /**
   * Replaces what the owner published before.
   *
   * @param owner names the process
   * @param until when they end, unless they are published again
   */
  publish(owner: string, terms: PublishedSettings, until: Micros): Promise<void>;
  /** Takes back what an owner published. */
  withdraw(owner: string): Promise<void>;
  /** All current terms, in the order of their owners. */
  all(now: Micros): Promise<readonly PublishedSettings[]>;
}
