// Alert rules with their firings, notifications and signing secrets; and the figures of telemetry that rules are evaluated on.

import type { Micros } from '../../signal/time.js';
import type { Usd } from '../../signal/money.js';

/** What alerts look at. */

export const ALERT_TYPES = [
  'failure_rate',
  'inactivity',
  'cost_threshold',
  'latency_threshold',
  'composite',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

export const METRIC_OPERATORS = ['gt', 'lt', 'gte', 'lte'] as const;
export type MetricOperator = (typeof METRIC_OPERATORS)[number];

/** What an alert looks at: an agent's runs, or a service's spans. */
export interface RunCondition {
  readonly type: Exclude<AlertType, 'composite'>;
  readonly source: 'ai';
  /** `failure_rate`: from 0 to 1; `inactivity`: hours; `cost_threshold`: US dollars; `latency_threshold`: milliseconds. */
  readonly threshold: number;
}

export interface MetricCondition {
  readonly type: 'metric_threshold';
  readonly source: 'infra';
  readonly metric_name: string;
  readonly operator: MetricOperator;
  readonly value: number;
}

export type AlertCondition = RunCondition | MetricCondition;

export interface CompositeConfig {
  readonly operator: 'and' | 'or';
  /** At least one of source `ai` and one of source `infra`; those of `ai` are never `latency_threshold`. */
  readonly conditions: readonly AlertCondition[];
}

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

/** The state of a notice. */
export const NOTIFICATION_STATUSES = ['pending', 'sent', 'failed', 'skipped', 'suppressed'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];
export const NOTIFICATION_CHANNELS = ['email', 'webhook'] as const;
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number];

/** Notices of one alert and channel that leave within an hour; more are stored as `suppressed`. */
export const MAX_NOTICES_PER_HOUR = 60;

export interface NotificationAttempt {
  /** From 1. */
  readonly attempt_number: number;
  readonly attempted_at: Micros;
  /** The code of HTTP or SMTP; null where no answer came. */
  readonly status_code: number | null;
  readonly duration_ms: number;
  /** One sentence for the user, without network addresses or secrets; null after success. */
  readonly error_message: string | null;
}

export interface AlertNotification {
  readonly channel: NotificationChannel;
  readonly status: NotificationStatus;
  /** Why it was not sent (`smtp_not_configured`, `too_many_emails`, `too_many_notices`), or how its last attempt ended. */
  readonly detail: string | null;
  readonly attempts: readonly NotificationAttempt[];
}

/** Identifies a notice that a sender has for a time. */
export interface NoticeClaim {
  readonly number: number;
  /** Grows with every claim: a result under an earlier one changes nothing. */
  readonly token: number;
}

/** A notice that is due, and that its sender has for a time. */
export interface ClaimedNotice extends NoticeClaim {
  readonly channel: NotificationChannel;
  readonly alertId: string;
  /** The id of the alert's event; ids of messages are derived from it. */
  readonly eventId: string;
  readonly userId: string;
  /** The account's address, as it is now. */
  readonly email: string;
  /** The URL as it was when the alert fired; null for an e-mail. */
  readonly webhookUrl: string | null;
  /** The envelope of `alert.fired`: the JSON text that is sent. */
  readonly body: string;
  /** How many attempts were made before. */
  readonly attempts: number;
}

/** Asks for notices that are due. */
export interface NoticeRequest {
  readonly now: Micros;
  /** How many of each channel the sender has room for. */
  readonly free: Readonly<Record<NotificationChannel, number>>;
  /**
   * How many of each channel may be running for one user, over all senders together, so that a receiver that hangs does not hold
   * up others.
   */
  readonly perUser: Readonly<Record<NotificationChannel, number>>;
  /** How many webhooks may be running to one host, whose users take turns there. */
  readonly perHost: number;
  /** How long the sender has them, in milliseconds: longer than an attempt takes. */
  readonly leaseMs: number;
}

export interface NoticeClaims {
  /** The longest overdue first. */
  readonly items: readonly ClaimedNotice[];
  /** When a notice is due that will have a place then; null where none has before another is settled or its claim ends. */
  readonly nextDueAt: Micros | null;
}

/** How an attempt ended, or why none was made. A status of `pending` needs a `retryAt`. */
export interface NoticeResult extends NoticeClaim {
  readonly status: NotificationStatus;
  readonly detail: string | null;
  /** Null where no attempt was made. */
  readonly attempt: NotificationAttempt | null;
  /** When it is due again; for status `pending` only. */
  readonly retryAt: Micros | null;
}

/** Asks for due notices to be settled without an attempt. */
export interface SkipRequest {
  readonly now: Micros;
  readonly channel: NotificationChannel;
  /** The reason. */
  readonly detail: string;
  /** Whose notices, and of these only those that were never tried; null for all. */
  readonly userIds: readonly string[] | null;
  readonly most: number;
}

/**
 * Notices of firing alerts, one for each channel. Several senders may claim side by side: each notice is sent at least once, and
 * only one sender has it at a time. A claim that is not renewed ends by itself, and the notice is due again, so whoever waits
 * should ask from time to time. Changes are durable when they resolve; watchers of `notices` are told of new ones. Every method
 * may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Notices {
  /** Claims notices that are due: users take turns, and for each user the longest overdue comes first. */
  claim(request: NoticeRequest): Promise<NoticeClaims>;
  /**
   * Holds claims for so many milliseconds from now.
   *
   * @returns for each false where somebody claimed it meanwhile, or it is settled or gone
   */
  renew(claims: readonly NoticeClaim[], ms: number): Promise<readonly boolean[]>;
  /**
   * Notes how attempts ended, and gives the claims back.
   *
   * @returns for each false, and nothing is noted, where somebody claimed it meanwhile, its result was noted before, or its alert
   *   is gone
   */
  finish(results: readonly NoticeResult[]): Promise<readonly boolean[]>;
  /** Settles due notices that nobody has claimed as `skipped`, the longest overdue first. @returns how many */
  skip(request: SkipRequest): Promise<number>;
}

/** The secret that signs the alert webhooks of a user, as a `SecretBox` sealed it for {@link alertSecretOwner}. */
export interface StoredAlertSecret {
  readonly sealed_secret: string;
  readonly created_at: Micros;
}

/** The owner that the secret of a user is sealed for. */
export function alertSecretOwner(userId: string): string {
  return `alert_secret:${userId}`;
}

/**
 * Secrets that sign alert webhooks, at most one per user. Changes are durable when they resolve. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface AlertSecrets {
  /** @returns null if the user has no secret yet */
  find(userId: string): Promise<StoredAlertSecret | null>;
  /** Stores a secret unless the user has one. @returns the stored one */
  keep(userId: string, secret: StoredAlertSecret): Promise<StoredAlertSecret>;
  /** Replaces the secret of the user; the former one signs nothing from then on. */
  rotate(userId: string, secret: StoredAlertSecret): Promise<void>;
}

/** What alerts ask of the telemetry, and what they are told. */

/** Which rows were looked at. Opaque: only the store that gave it can compare it, with what it finds later. */
export type Evidence = string;

/** An agent's runs (agent) or a node's spans (service) that an evaluator asks about. */
export type Target =
  | { readonly userId: string; readonly agentId: string }
  | { readonly userId: string; readonly service: string };

/** Which figures of a target are wanted: those that are not are null in the answer. */
export interface WantedStats {
  readonly target: Target;
  readonly runs: boolean;
  readonly cost: boolean;
  readonly activity: boolean;
  /** What was known of its window when somebody looked before: each is told whether there is anything new. */
  readonly since?: readonly Evidence[];
}

/** The series of a metric that an evaluator asks about. */
export interface WantedMetric {
  readonly userId: string;
  readonly name: string;
  /**
   * Only the series whose label `service_name`, `service.name` or `service` is this, where any series of the metric has such a
   * label; null for all.
   */
  readonly service: string | null;
  /** As {@link WantedStats.since}. */
  readonly since?: readonly Evidence[];
}

/** What was looked at, and whether it is something else than before. */
export interface Looked {
  readonly evidence: Evidence;
  /**
   * For each `since`: whether anything came that was not known then, be it a new row or a change of one. True where that was none of this
   * store's.
   */
  readonly isNews: readonly boolean[];
}

export interface Observing {
  /** One moment for all. */
  readonly now: Micros;
  /** Finished after this, and not after `now`. */
  readonly windowStart: Micros;
  /** Days by their first moment (included) and their end (excluded): the runs that started within. */
  readonly days: readonly { readonly from: Micros; readonly to: Micros }[];
  readonly targets: readonly WantedStats[];
  readonly metrics: readonly WantedMetric[];
  /** Points after this, and not after `now`. */
  readonly pointsStart: Micros;
}

/** Finished runs (or spans) of a target in the window, by event time: the end, else the start, and never after it came. */
export interface WindowStats extends Looked {
  readonly finished: number;
  /** `success` is false, or it is null and the status `failed` or `timed_out`. Of spans by status alone. */
  readonly failed: number;
  /** Those that have a duration. */
  readonly timed: number;
  /** `quantile_cont` of their `duration_ms`; null where there are none. */
  readonly p95_ms: number | null;
}

/** What a target's runs (or spans) of a day cost. */
export interface CostStats {
  readonly cost: Usd;
  /** Those that have a cost. */
  readonly priced: number;
}

export interface TargetStats {
  /** Null where they were not wanted, and where the target is not known (yet). */
  readonly window: WindowStats | null;
  /** In the order of the days asked for; empty where they were not wanted, or the target is not known. */
  readonly costs: readonly CostStats[];
  /**
   * The last time of any run or span, never after it came, also of those that retention has removed since; of an agent of
   * which no run is known, when it came into being. Null where there is none, or it was not wanted.
   */
  readonly activeAt: Micros | null;
}

/** The newest points of the series of a metric, one of each. */
export interface MetricStats extends Looked {
  readonly series: number;
  /** Of their values; null where there are none. */
  readonly min: number | null;
  readonly max: number | null;
}

export interface Observed {
  /** In the order of the targets asked for. */
  readonly targets: readonly TargetStats[];
  /** In the order of the metrics asked for; no series for an unknown one. Points without a finite value are left out. */
  readonly metrics: readonly MetricStats[];
}

/** Which runs tell best why an alert fires. */
export interface ExampleQuery {
  readonly target: Target;
  readonly type: RunCondition['type'];
  readonly from: Micros;
  readonly to: Micros;
}

/**
 * What alerts read of the telemetry. All of one question is as of one moment, and what was acknowledged before it is in the answer. Evidence
 * says nothing to another store (`TelemetryStore.identity`), which calls all of it news. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface AlertStats {
  observe(request: Observing): Promise<Observed>;
  /** Ids of at most twenty traces of each: failed, the slowest, or the most expensive ones; none for `inactivity`. */
  exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]>;
}

/** What alerts would have been told in the past. */
export interface PastStats {
  /**
   * What {@link AlertStats.observe} would tell a user at moments of the past, by what is known now: late spans and outcomes count as if
   * they had come in time, and what retention has removed as if it had never been. A run that was under way counts as activity.
   *
   * @param requests the same but for their times, which lie equal steps apart, the oldest first; their targets and metrics are this
   *   user's, whatever user they name
   * @returns an answer for each
   * @throws ConsumeError `overloaded` where the user already reads as much as it may
   */
  observe(userId: string, requests: readonly Observing[], abort?: AbortSignal): Promise<readonly Observed[]>;
}
