import type { Micros } from '../signal/time.js';
import type { AlertType, CompositeConfig } from './alert-conditions.js';
import type { AlertNotification } from './notices.js';

export const ALERT_CHANNELS = ['email', 'webhook', 'both'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

/** A rule of a user. Either `agent_id` and `agent_name` or `target_service` are there. */
export interface Alert {
  /** UUIDv7 */
  readonly id: string;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly type: AlertType;
  /** 0 for `composite`. */
  readonly threshold: number;
  readonly cooldown_minutes: number;
  readonly is_active: boolean;
  readonly channel: AlertChannel;
  readonly webhook_url: string | null;
  /** Only of `composite`. */
  readonly composite_config: CompositeConfig | null;
  /** The id of a node of the service map. */
  readonly target_service: string | null;
  readonly last_fired_at: Micros | null;
  readonly created_at: Micros;
}

/** What is absent stays as it is. */
export type AlertChange = Partial<
  Pick<Alert, 'threshold' | 'cooldown_minutes' | 'is_active' | 'channel' | 'webhook_url'>
>;

/** From the first firing until what the alert looks at is over. */
export interface AlertIncident {
  /** The id of the event of its first firing. */
  readonly id: string;
  /** So far. */
  readonly firings: number;
}

/** A rule, with what its evaluation depends on. */
export interface AlertRule {
  readonly userId: string;
  readonly alert: Alert;
  /** Null while it is not firing. */
  readonly incident: AlertIncident | null;
  /** Of its newest firing, as it was given; null where it has never fired. */
  readonly evidence: string | null;
}

/** That a rule fires, to be written in one transaction. */
export interface DecidedFiring {
  readonly alertId: string;
  /** What `last_fired_at` was when it was decided: where it is another by now, nothing is written. */
  readonly lastFiredAt: Micros | null;
  readonly firedAt: Micros;
  /** UUIDv7 of the firing and of the event `alert.fired`. */
  readonly eventId: string;
  /** With this firing. */
  readonly incident: AlertIncident;
  /** What the rule's conditions looked at. Opaque: only who evaluates rules knows what it means. */
  readonly evidence: string;
  readonly threshold: number;
  /** In the unit of the threshold; null of `composite`. */
  readonly value: number | null;
  /** Of the event `alert.fired`. */
  readonly data: object;
}

/** That what an alert looks at is over. */
export interface Resolution {
  readonly alertId: string;
  readonly incidentId: string;
  readonly resolvedAt: Micros;
  /** Of the event `alert.resolved`. */
  readonly data: object;
}

/** A firing, as the API lists it. */
export interface AlertFiring {
  readonly id: string;
  readonly fired_at: Micros;
  readonly value: number | null;
  readonly threshold: number;
  readonly resolved_at: Micros | null;
  readonly notifications: readonly AlertNotification[];
}

/** How far somebody has followed the rules. Opaque: only the store that made it knows what it means. */
export type RulesVersion = string;

/** What changed since a version, for who keeps the active rules: to be applied in this order. */
export interface RuleChanges {
  /** Whether `put` is all that there are, and every other one is to be forgotten. */
  readonly isAll: boolean;
  /** New, changed or active again, the oldest first; some may be as they were. */
  readonly put: readonly AlertRule[];
  /** The ids of those that are paused or deleted, or whose user is disabled. */
  readonly removed: readonly string[];
  /** To ask with next. */
  readonly version: RulesVersion;
}

export interface FiringPage {
  /** The newest first. */
  readonly items: readonly AlertFiring[];
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
  read(userId: string, id: string): Promise<AlertRule | null>;
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
  ): Promise<AlertRule | 'lacks_webhook_url' | null>;
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
  /**
   * Notes that rules are evaluated.
   *
   * @param source whose telemetry they are evaluated by
   * @returns when that was noted of it last; null for never
   */
  beat(source: string, now: Micros): Promise<Micros | null>;
  /** Removes the firings of before, with their notices, however far those are; incidents go on. @returns how many firings */
  removeBefore(time: Micros): Promise<number>;
}
