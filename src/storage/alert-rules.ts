import type { Micros } from '../signal/time.js';
import type { Alert, AlertChange, AlertEvent, AlertRule, Firing, Resolution } from './alert-store.js';

/** What a rule's conditions looked at when it last fired. Opaque: only who observes for it knows what it means. */
type Evidence = string;

/** A rule, with what its evaluation depends on. */
export interface KeptRule extends Omit<AlertRule, 'evidence'> {
  /** Of its newest firing; null where it has never fired. */
  readonly evidence: Evidence | null;
}

/** That a rule fires. */
export interface DecidedFiring extends Omit<Firing, 'evidence'> {
  readonly evidence: Evidence;
}

/** How far somebody has followed the rules. Opaque: only the store that made it knows what it means. */
export type RulesVersion = string;

/** What changed since a version, for who keeps the active rules: to be applied in this order. */
export interface RuleChanges {
  /** Whether `put` is all that there are, and every other one is to be forgotten. */
  readonly isAll: boolean;
  /** New, changed or active again, the oldest first; some may be as they were. */
  readonly put: readonly KeptRule[];
  /** The ids of those that are paused or deleted, or whose user is disabled. */
  readonly removed: readonly string[];
  /** To ask with next. */
  readonly version: RulesVersion;
}

export interface FiringPage {
  /** The newest first. */
  readonly items: readonly AlertEvent[];
  /** Of all pages. */
  readonly count: number;
}

/**
 * The alert rules of users, and what became of them. What belongs to another user is not there; ids are taken in any case. Changes are
 * durable when they resolve, and happen one after another: watchers of `rules` are told of them, by whomever they were made. Every method
 * may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface AlertRules {
  /** The newest first. */
  list(userId: string): Promise<readonly Alert[]>;
  /**
   * @param alert with the name of its agent, which is kept as it is given
   * @param most as many as the user may have then, however many ask at the same time
   * @returns `unknown` where there is no such user
   */
  create(userId: string, alert: Alert, most: number): Promise<'created' | 'full' | 'unknown'>;
  /** Active or not; null where there is none. */
  read(userId: string, id: string): Promise<KeptRule | null>;
  /**
   * Pausing a rule ends its incident, without an event. A change that leaves channel `webhook` or `both` without a URL changes nothing.
   *
   * @returns the rule as it is now; null where there is none
   */
  update(
    userId: string,
    id: string,
    change: AlertChange,
    now: Micros,
  ): Promise<KeptRule | 'lacks_webhook_url' | null>;
  /** With its firings and their notices. @returns false where there was none */
  delete(userId: string, id: string): Promise<boolean>;
  /** In the order of their writing. @returns null where the user has no such rule */
  listFirings(
    userId: string,
    id: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<FiringPage | null>;

  /**
   * What happened to the rules that are active and whose users are not disabled. Who asks with each version that it was given misses no
   * change, firings and resolutions included.
   *
   * @param since null for all; all come, too, where it is too long ago
   * @throws RangeError where the version is none of this store's
   */
  follow(since: RulesVersion | null): Promise<RuleChanges>;
  /**
   * Writes all that firings bring in one transaction: each firing, when its rule fired last, incident and evidence, a notice for each
   * channel, and the event `alert.fired` where somebody wants it, once. Of those that name a rule that is paused or gone, or that fired
   * since it was decided, nothing is written: of several evaluators that decide the same, one wins. Watchers of `notices` are told.
   *
   * @returns for each whether it was written
   */
  recordFirings(firings: readonly DecidedFiring[]): Promise<readonly boolean[]>;
  /** Ends incidents, with the event `alert.resolved`. One that is over changes nothing. @returns for each whether it was written */
  recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]>;
  /** Notes that rules are evaluated. @returns when that was noted last; null for never */
  beat(now: Micros): Promise<Micros | null>;
  /** Removes the firings of before, with their notices, however far those are; incidents go on. @returns how many firings */
  removeBefore(time: Micros): Promise<number>;
}
