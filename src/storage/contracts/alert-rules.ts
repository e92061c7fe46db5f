import type { Micros } from '../../signal/time.js';
import type { AlertType, CompositeConfig } from './alert-conditions.js';
import type { AlertNotification } from './notices.js';

export const ALERT_CHANNELS = ['email', 'webhook', 'both'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

/** A rule of a user. It has either `agent_id` and `agent_name` or `target_service`. */
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
  /** Only for `composite`. */
  readonly composite_config: CompositeConfig | null;
  /** The id of a node of the service map. */
  readonly target_service: string | null;
  readonly last_fired_at: Micros | null;
  readonly created_at: Micros;
}

/** Absent values stay as they are. */
export type AlertChange = Partial<
  Pick<Alert, 'threshold' | 'cooldown_minutes' | 'is_active' | 'channel' | 'webhook_url'>
>;

/** Lasts from the first firing until the alert's conditions are no longer met. */
export interface AlertIncident {
  /** The id of the event of its first firing. */
  readonly id: string;
  /** How many there were so far. */
  readonly firings: number;
}

/** A rule, with what its evaluation depends on. */
export interface AlertRule {
  readonly userId: string;
  readonly alert: Alert;
  /** Null while it is not firing. */
  readonly incident: AlertIncident | null;
  /** That of its newest firing, as it was given; null where it has never fired. */
  readonly evidence: string | null;
}

/** A rule as it is listed. */
export type ListedRule = Pick<AlertRule, 'alert' | 'incident'>;

/** The decision that a rule fires, to be written in one transaction. */
export interface DecidedFiring {
  readonly alertId: string;
  /** What `last_fired_at` was when this was decided: if it has changed since, nothing is written. */
  readonly lastFiredAt: Micros | null;
  readonly firedAt: Micros;
  /** UUIDv7 of the firing and of the event `alert.fired`. */
  readonly eventId: string;
  /** Including this firing. */
  readonly incident: AlertIncident;
  /** What the rule's conditions looked at. Opaque: only the evaluator of rules knows what it means. */
  readonly evidence: string;
  readonly threshold: number;
  /** In the unit of the threshold; null for `composite`. */
  readonly value: number | null;
  /** Data of the event `alert.fired`. */
  readonly data: object;
  /** The traces that best explain it, the best first. */
  readonly traceIds: readonly string[];
}

/** The decision that an incident is over. */
export interface Resolution {
  readonly alertId: string;
  readonly incidentId: string;
  readonly resolvedAt: Micros;
  /** Data of the event `alert.resolved`. */
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

/** A firing, with the rule that fired and what explains it. */
export interface AlertEvent
  extends AlertFiring, Pick<Alert, 'type' | 'agent_id' | 'agent_name' | 'target_service'> {
  readonly alert_id: string;
  /** The envelope of `alert.fired`, whose data say what was looked at. */
  readonly body: string;
  /** The best first. */
  readonly trace_ids: readonly string[];
}

/** Which firings of a user are wanted. */
export interface AlertEventFilter {
  /** Fired at or after. */
  readonly from?: Micros;
  /** Fired before. */
  readonly to?: Micros;
  /** Of this rule. */
  readonly alertId?: string;
  /** Of rules about this agent. */
  readonly agentId?: string;
  /** Explained by this trace. */
  readonly traceId?: string;
}

export interface AlertEventPage {
  /** The newest first. */
  readonly items: readonly AlertEvent[];
  /** How many match on all pages. */
  readonly count: number;
}

/** How far somebody has followed the rules. Opaque: only the store that made it knows what it means. */
export type RulesVersion = string;

/** What changed since a version, for somebody who keeps the active rules: to be applied in this order. */
export interface RuleChanges {
  /** Whether `put` contains all rules, and every other one has to be forgotten. */
  readonly isAll: boolean;
  /** New, changed or activated rules, the oldest first; some may be unchanged. */
  readonly put: readonly AlertRule[];
  /** The ids of rules that are paused or deleted, or whose user is disabled. */
  readonly removed: readonly string[];
  /** What to ask with next. */
  readonly version: RulesVersion;
}

export interface FiringPage {
  /** The newest first. */
  readonly items: readonly AlertFiring[];
  /** How many there are on all pages. */
  readonly count: number;
}

/**
 * The alert rules of users, and what became of them. What belongs to another user looks as if it did not exist; ids are accepted
 * in upper and lower case. Changes are durable when they resolve, and happen one after another; watchers of `rules` are told of
 * them, whoever made them. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface AlertRules {
  /** The newest first. */
  list(userId: string): Promise<readonly ListedRule[]>;
  /**
   * @param alert with the name of its agent, which is kept as given
   * @param most how many the user may have then, however many calls come at the same time
   * @returns `unknown` where there is no such user
   */
  create(userId: string, alert: Alert, most: number): Promise<'created' | 'full' | 'unknown'>;
  /** A rule, active or not; null where there is none. */
  read(userId: string, id: string): Promise<AlertRule | null>;
  /**
   * Pausing a rule ends its incident, without an event. A change that would leave channel `webhook` or `both` without a URL
   * changes nothing.
   *
   * @returns the rule as it is now; null where there is none
   */
  update(
    userId: string,
    id: string,
    change: AlertChange,
    now: Micros,
  ): Promise<AlertRule | 'lacks_webhook_url' | null>;
  /** Deletes a rule with its firings and their notices. @returns false where there was none */
  delete(userId: string, id: string): Promise<boolean>;
  /** Newest first. @returns null where the user has no such rule */
  listFirings(
    userId: string,
    id: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<FiringPage | null>;
  /** The firings of all rules of a user, the newest first. */
  listEvents(
    userId: string,
    filter: AlertEventFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<AlertEventPage>;

  /**
   * What happened to the rules that are active and whose users are not disabled. Whoever asks with each version that it was given
   * misses no change, including firings and resolutions.
   *
   * @param since null for all; all come, too, where it is too long ago
   * @throws RangeError where the version was not made by this store
   */
  follow(since: RulesVersion | null): Promise<RuleChanges>;
  /**
   * Writes everything that firings bring in one transaction: each firing, when its rule fired last, its incident and evidence, a
   * notice for each channel, and the event `alert.fired` where somebody wants it, once. Nothing is written for a rule that is
   * paused or gone, or that has fired since this was decided: when several evaluators decide the same, one wins. Watchers of
   * `notices` are told.
   *
   * @returns for each whether it was written
   */
  recordFirings(firings: readonly DecidedFiring[]): Promise<readonly boolean[]>;
  /**
   * Ends incidents, with the event `alert.resolved`. An incident that is over already stays as it is.
   *
   * @returns for each whether it was written
   */
  recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]>;
  /**
   * Notes that rules are being evaluated.
   *
   * @param source by whose telemetry
   * @returns when that was last noted for it; null for never
   */
  beat(source: string, now: Micros): Promise<Micros | null>;
  /**
   * Removes the firings before a time, with their notices, whatever became of these; incidents go on.
   *
   * @returns how many firings
   */
  removeBefore(time: Micros): Promise<number>;
}
