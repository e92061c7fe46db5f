import type { Micros } from '../../signal/time.js';

/** How a process evaluates alerts. */
export interface AlertingTerms {
  readonly windowMs: number;
  /** With fewer runs (or spans) in the window it says nothing. */
  readonly minSamples: number;
  /** An IANA name: the time zone of the days of `cost_threshold`. */
  readonly timezone: string;
}

/** What a process lets each user store in a month who has no limit of its own. */
export interface QuotaTerms {
  /** The identity of the telemetry store that counts. */
  readonly store: string;
  /** 0: any number. */
  readonly monthly_events: number;
}

/** What a process goes by, as its configuration says. It does not do what is absent. */
export interface PublishedTerms {
  readonly quota?: QuotaTerms;
  /** Private addresses to which webhooks may be sent. */
  readonly targets?: { readonly allow_cidrs: readonly string[] };
  readonly alerting?: AlertingTerms;
}

/**
 * What the processes that share a store go by, so that others can tell users. Watchers of `terms` are told of changes. Every
 * method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Terms {
  /**
   * Replaces what the owner published before.
   *
   * @param owner names the process
   * @param until when they end, unless they are published again
   */
  publish(owner: string, terms: PublishedTerms, until: Micros): Promise<void>;
  /** Takes back what an owner published. */
  withdraw(owner: string): Promise<void>;
  /** All current terms, in the order of their owners. */
  all(now: Micros): Promise<readonly PublishedTerms[]>;
}
