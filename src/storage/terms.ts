import type { Micros } from '../signal/time.js';

/** How a process evaluates alerts. */
export interface AlertingTerms {
  readonly windowMs: number;
  /** Runs (or spans) in the window below which it says nothing. */
  readonly minSamples: number;
  /** An IANA name: whose days `cost_threshold` goes by. */
  readonly timezone: string;
}

/** What a process holds to, as its configuration says. What is absent it does not do. */
export interface PublishedTerms {
  /** Events a month that each user may store who has no limit of its own; 0: any number. */
  readonly quota?: { readonly monthly_events: number };
  /** Private addresses that webhooks may be sent to. */
  readonly targets?: { readonly allow_cidrs: readonly string[] };
  readonly alerting?: AlertingTerms;
}

/**
 * What the processes that share a store hold to, so that others can say it to users. Watchers of `terms` are told of changes. Every
 * method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Terms {
  /**
   * In place of what the owner published before.
   *
   * @param owner names the process
   * @param until they hold so long unless they are published again
   */
  publish(owner: string, terms: PublishedTerms, until: Micros): Promise<void>;
  /** Takes back what an owner published. */
  withdraw(owner: string): Promise<void>;
  /** Those that hold, in the order of their owners. */
  all(now: Micros): Promise<readonly PublishedTerms[]>;
}
