// Coordination between processes that share stores: leases, change hints, the write-intent log, interned agents, published settings.

import type { Micros } from '../../signal/time.js';

/** The exclusive right to do some work, for a limited time. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  /**
   * Increases each time the lease is taken. Changes are fenced with it: those of a holder whose lease was taken over are rejected.
   */
  readonly token: number;
}

/**
 * Exclusive leases for work that one process may do at a time. A lease that is not renewed expires; then another process can take it.
 * Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Leases {
  /**
   * @param owner identifies the process, unique over time; taking a lease that it already holds gives a new token
   * @param ms duration in milliseconds
   * @returns null while another process holds the lease
   */
  take(name: string, owner: string, ms: number): Promise<Lease | null>;
  /** Extends the lease to this many milliseconds from now. @returns false if it was taken by another process or released */
  renew(lease: Lease, ms: number): Promise<boolean>;
  /** Releases the lease, so that others can take it before it expires. Does nothing if another process has taken it. */
  release(lease: Lease): Promise<void>;
}

/**
 * The topics that can be watched. `endpoints` covers everything that decides which events of a user are written, including memberships
 * of organizations and the types that readers want (`EventLog.want`).
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
 * Change hints. They are sent after the commit; one hint may stand for several changes, and hints may be lost, so callers that need
 * every change must also poll.
 */
export interface Watch {
  /**
   * @param listener must not throw
   * @returns a function that stops watching
   */
  watch(topic: Topic, listener: () => void): () => void;
}

/** Maximum number of traces per write: about 40 MB in its row. Groups of requests have a hundredth of that. */
export const MOST_TRACES = 1_000_000;
/** Maximum number of charges per write. */
export const MOST_CHARGES = 100_000;

/** A trace that a write touches. */
export interface TouchedTrace {
  /** The number of its user: `Accounts.findTenants`. */
  readonly tenant: number;
  /** UUID in lower case. */
  readonly traceId: string;
}

/** Items that a write may add to a user's usage. */
export interface Charge {
  readonly tenant: number;
  /** When they were received, which decides the month and day they count for. */
  readonly at: Micros;
  /** Maximum number of new items, or the exact number if {@link isExact} is set. 0 is always accepted. */
  readonly items: number;
  readonly isExact: boolean;
  /** Monthly limit in items; null for no limit. */
  readonly limit: number | null;
}

/** Result of a charge. */
export type Charged =
  | 'taken'
  /** Whether it exceeds the limit depends on the exact number: retry with that. */
  | 'inexact'
  /** It exceeds the limit only together with the charges of writes in progress, which end soon. */
  | 'waits'
  /** It exceeds the limit together with the items already counted. */
  | 'exceeds';

/** A batch of items without ids, named by its sender so that a repeat adds nothing. */
export interface NamedBatch {
  readonly tenant: number;
  /** A UUID: `nameOfBatch`. */
  readonly name: string;
}

/** The state of a named batch when a write of it begins. */
export interface BatchStanding {
  readonly as:
    | 'new'
    /** An earlier write of it began and did not finish: the batch may be stored, in whole or in part. */
    | 'begun'
    /** Another process is writing it: no other write is recorded. */
    | 'under_way'
    /** It was written: no other write is recorded. */
    | 'written';
  /** For a written batch: the positions of rejected items, ascending. */
  readonly refused: readonly number[];
}

/** A write in progress. */
export interface OpenWrite {
  /** Increases from write to write: the order in which the written data counts. */
  readonly number: number;
  /** The process that performs the write, identified uniquely over time. */
  readonly owner: string;
  /** Increases with each takeover: calls with an earlier token change nothing, even from the same process. */
  readonly token: number;
}

/** A write to begin. */
export interface NewWrite {
  /** The identity of the telemetry store that is written to. */
  readonly store: string;
  readonly owner: string;
  /** Duration of the lease in milliseconds unless renewed; after it expires another process may finish the write. */
  readonly leaseMs: number;
  /** Up to {@link MOST_TRACES}. */
  readonly traces: readonly TouchedTrace[];
  /** Up to {@link MOST_CHARGES}. */
  readonly charges: readonly Charge[];
  /** The batch that is written, if it has a name. */
  readonly batch?: NamedBatch;
}

/** Result of {@link WriteIntentLog.begin}. */
export interface BegunWrite {
  /** Null if all of its charges were refused, or its batch is being written or already written: then nothing is recorded. */
  readonly write: OpenWrite | null;
  /** Null if the write names no batch. */
  readonly batch: BatchStanding | null;
  /** For each charge, in order, with the items counted for its month: {@link Charge.at}. Empty if the batch was not accepted. */
  readonly charged: readonly { readonly as: Charged; readonly used: number }[];
}

/** Items found to be new. They are counted, and the charges of the write are refunded in full. */
export interface AppliedItems {
  readonly tenant: number;
  /** Equal to {@link Charge.at} of the charge. */
  readonly at: Micros;
  readonly items: number;
}

/** A write that another process did not finish. */
export interface TakenWrite {
  readonly write: OpenWrite;
  readonly traces: readonly TouchedTrace[];
  /** The charges that were accepted. */
  readonly charges: readonly Charge[];
}

/** A user's counted items in a period. */
export interface ChargedItems {
  /** A month as `monthOf` numbers it, or a day as days since 1970. */
  readonly period: number;
  readonly items: number;
}

/**
 * Write-intent log for a telemetry store that several processes write to and that has no transactions over several tables. A write is
 * recorded before any of it is stored, so that another process can finish it ({@link takeOver}); it is charged for the items it may add,
 * and refunded for those that were not new. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable). If the
 * connection was lost during a commit, the change may have been made: a write recorded by `begin` is then taken over after its lease
 * expires, and a repeated `finish` finds that it has ended.
 *
 * The store derives its results from the stored facts with a pure function, so it does not matter which process computes them or how
 * often; but only the latest reader has seen everything. **Fences** order the readers: a fence is taken after a write is stored
 * completely and before the facts are read back. The greatest fence has seen all writes with smaller fences.
 */
export interface WriteIntentLog {
  /**
   * Records a write and charges for it. Items of a refused charge must not be written. Charges of a write are judged in order, each
   * after the ones before it. Charges of concurrent writes never exceed a limit together.
   *
   * @throws RangeError if items are not an integer from 0, or there are more traces or charges than a write may have
   */
  begin(write: NewWrite): Promise<BegunWrite>;
  /**
   * Extends the lease to this many milliseconds from now, even if it has expired, unless another process has taken the write over.
   *
   * @returns false if the write was taken over or has ended
   */
  renew(write: OpenWrite, leaseMs: number): Promise<boolean>;
  /**
   * Assigns a fence greater than all earlier ones, of any write. The first fence of a write is stored with it, also if another process
   * takes further ones. When this resolves, {@link firstFences} has all smaller fences: a write without one there will get a greater
   * one.
   *
   * @returns null if the write was taken over or has ended
   */
  fence(write: OpenWrite): Promise<number | null>;
  /**
   * The first fences of writes, by their numbers: null for a write that has none yet, or ended without one. Writes that ended a while
   * ago ({@link forgetEnded}) are missing: their fences were smaller than the first fence of any write in progress. Compare with the
   * first fence of the caller's own write.
   */
  firstFences(store: string, numbers: readonly number[]): Promise<ReadonlyMap<number, number | null>>;
  /** The numbers of writes in progress, of any process, including those with expired leases. */
  openWrites(store: string): Promise<readonly number[]>;
  /**
   * Ends a write: new items are counted, and its charges are refunded. A charge that `items` does not name has no new items.
   *
   * @param batch that of the write, now stored; without it a repeat is treated as `begun`
   * @returns the counted items of the months of the accepted charges, in order; null, without any change, if the write was taken over,
   * has ended, or another write has its batch now
   * @throws RangeError if items are not an integer from 0
   */
  finish(
    write: OpenWrite,
    items: readonly AppliedItems[],
    batch?: NamedBatch & Pick<BatchStanding, 'refused'>,
  ): Promise<readonly number[] | null>;
  /**
   * Takes over writes with expired leases, oldest first; their previous owners can no longer finish them. These may be the caller's own
   * writes that it abandoned or was too slow for.
   *
   * @param owner as in {@link NewWrite}
   * @param most maximum number of writes; all of their traces are returned at once
   */
  takeOver(store: string, owner: string, leaseMs: number, most: number): Promise<readonly TakenWrite[]>;
  /**
   * Removes writes that ended at least this long ago, by the clock that decides about leases. A write whose first fence is greater than
   * that of a write in progress is kept until that has ended, because it may be read.
   *
   * @returns how many
   */
  forgetEnded(store: string, ageMs: number): Promise<number>;
  /**
   * Removes the names of batches first recorded at least this long ago, and for each user all but the newest.
   *
   * @returns how many
   */
  forgetBatches(store: string, ageMs: number, mostOfUser: number): Promise<number>;
  /**
   * Counted items of a user, in the order of the months: exact once {@link finish} has resolved. Counts never decrease. Months without
   * items are left out.
   *
   * @param months as `monthOf` numbers them
   */
  months(store: string, tenant: number, months: readonly number[]): Promise<readonly ChargedItems[]>;
  /** The same by day, both ends included. */
  days(store: string, tenant: number, from: number, to: number): Promise<readonly ChargedItems[]>;
  /** The first day with counted items, of any user; null if absent. Earlier days have no counts. */
  firstDay(store: string): Promise<number | null>;
}

/** A name under which a user's runs are counted. */
export interface InternedAgent {
  readonly tenant: number;
  /** From 1, unique over all names of all users. */
  readonly number: number;
  /** UUIDv7 */
  readonly id: string;
  readonly name: string;
  /**
   * When the agent was created. Null for a name used only by runs whose agent may still change (`src/runs/README.md`, "Runs that nobody
   * declared"), or that have no agent.
   */
  readonly created_at: Micros | null;
}

/** The agent that a run names. */
export interface NamedAgent {
  readonly tenant: number;
  readonly name: string;
  /** When the run was received. */
  readonly at: Micros;
  /** Whether the run certainly belongs to this agent, so that the agent is created. */
  readonly comesIntoBeing: boolean;
}

/** The name for runs of further agents once the user's limit of names is reached. */
export const OTHER_AGENTS = '(other)';

/**
 * Numbers and ids for agent names, for shared telemetry stores that cannot assign unique values themselves. Numbers, ids and names are
 * never changed or removed. A name has one number, whether or not it is an agent's. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface InternedAgents {
  /**
   * The agents that runs name, in the order of the runs; adds new names and creates agents. With `most` names a user has reached the
   * limit: further names become `(other)`, which does not count.
   *
   * @param store the identity of the telemetry store
   */
  number(store: string, runs: readonly NamedAgent[], most: number): Promise<readonly InternedAgent[]>;
  /** All names of a user, ordered by number. */
  ofTenant(store: string, tenant: number): Promise<readonly InternedAgent[]>;
}

/** Alerting settings of a process. */
export interface AlertingSettings {
  readonly windowMs: number;
  /** Minimum number of runs (or spans) in the window for failure-rate and latency conditions. */
  readonly minSamples: number;
  /** IANA time zone that defines a day for `cost_threshold`. */
  readonly timezone: string;
}

/** Monthly limit that a process applies to users without a limit of their own. */
export interface QuotaSettings {
  /** The identity of the telemetry store that counts usage. */
  readonly store: string;
  /** 0 for no limit. */
  readonly monthly_events: number;
}

/** Settings from a process's configuration. Absent keys: the process does not do this. */
export interface PublishedSettings {
  readonly quota?: QuotaSettings;
  /** Private addresses to which webhooks may be sent. */
  readonly targets?: { readonly allow_cidrs: readonly string[] };
  readonly alerting?: AlertingSettings;
  /** Whether the process can send e-mail. */
  readonly canMail?: boolean;
}

/**
 * Settings of the processes that share a store, so that other processes can show them to users. Watchers of `terms` are notified of
 * changes. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface SettingsBoard {
  /**
   * Replaces the settings that the owner published before.
   *
   * @param owner identifies the process
   * @param until when they expire unless they are published again
   */
  publish(owner: string, terms: PublishedSettings, until: Micros): Promise<void>;
  /** Withdraws the settings of an owner. */
  withdraw(owner: string): Promise<void>;
  /** All current settings, ordered by owner. */
  all(now: Micros): Promise<readonly PublishedSettings[]>;
}
