// Alert rules with their firings, notifications and signing secrets; and the telemetry statistics that rules are evaluated on.

import type { Micros } from '../../signal/time.js';
import type { Usd } from '../../signal/money.js';

/** The types of alerts. */

export const ALERT_TYPES = [
  'failure_rate',
  'inactivity',
  'cost_threshold',
  'latency_threshold',
  'score_threshold',
  'composite',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

export const METRIC_OPERATORS = ['gt', 'lt', 'gte', 'lte'] as const;
export type MetricOperator = (typeof METRIC_OPERATORS)[number];

/** A condition on an agent's runs or a service's spans. */
export interface RunCondition {
  readonly type: Exclude<AlertType, 'composite' | 'score_threshold'>;
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

export const SCORE_DIRECTIONS = ['below', 'above'] as const;

/** The scores that a `score_threshold` evaluates: their mean over the window. */
export interface ScoreConfig {
  /** The exact name of the scores. */
  readonly score_name: string;
  readonly direction: (typeof SCORE_DIRECTIONS)[number];
  /** Fewer values count as no data. */
  readonly min_samples: number;
}

export interface ScoreCondition extends ScoreConfig {
  readonly type: 'score_threshold';
  readonly source: 'ai';
  readonly threshold: number;
}

export type AlertCondition = RunCondition | MetricCondition | ScoreCondition;

export interface CompositeConfig {
  readonly operator: 'and' | 'or';
  /** At least one of source `ai` and one of source `infra`; those of `ai` are never `latency_threshold`. */
  readonly conditions: readonly AlertCondition[];
}

export const ALERT_CHANNELS = ['email', 'webhook', 'both'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

/**
 * The windows of {@link Alert.window_minutes}. They are few because rules with different windows are evaluated by separate reads.
 */
export const ALERT_WINDOWS = [5, 15, 30, 60, 180, 360, 720, 1440] as const;

/** A rule of a user. It has `agent_id` and `agent_name`, or `target_service`, or none of them: then it is about all agents together. */
export interface Alert {
  /** UUIDv7 */
  readonly id: string;
  /** Given by the user. */
  readonly name: string | null;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly type: AlertType;
  /** 0 for `composite`. */
  readonly threshold: number;
  readonly cooldown_minutes: number;
  /** Length of the window of runs and scores; null for that of the evaluator. */
  readonly window_minutes: number | null;
  /** Runs or spans that failure rates and latencies need; null for the minimum of the evaluator. */
  readonly min_samples: number | null;
  readonly is_active: boolean;
  readonly channel: AlertChannel;
  readonly webhook_url: string | null;
  /** Only for `composite`. */
  readonly composite_config: CompositeConfig | null;
  /** Only for `score_threshold`, whose target is an agent. */
  readonly score_config: ScoreConfig | null;
  /** The id of a node of the service map. */
  readonly target_service: string | null;
  readonly last_fired_at: Micros | null;
  readonly created_at: Micros;
}

/** Absent values stay as they are. */
export type AlertChange = Partial<
  Pick<
    Alert,
    | 'name'
    | 'threshold'
    | 'cooldown_minutes'
    | 'window_minutes'
    | 'min_samples'
    | 'is_active'
    | 'channel'
    | 'webhook_url'
  >
>;

/** Lasts from the first firing until the conditions of the alert are no longer met. */
export interface AlertIncident {
  /** The id of the event of its first firing. */
  readonly id: string;
  /** Number of firings so far. */
  readonly firings: number;
}

/** A rule with the state that its evaluation depends on. */
export interface AlertRule {
  readonly userId: string;
  readonly alert: Alert;
  /** Null while it is not firing. */
  readonly incident: AlertIncident | null;
  /** Evidence of the newest firing, as recorded; null if the rule has never fired. */
  readonly evidence: string | null;
}

/** A rule in a list. */
export type ListedRule = Pick<AlertRule, 'alert' | 'incident'>;

/** The decision that a rule fires, to be written in one transaction. */
export interface DecidedFiring {
  readonly alertId: string;
  /** `last_fired_at` when this was decided: if it has changed since, nothing is written. */
  readonly lastFiredAt: Micros | null;
  readonly firedAt: Micros;
  /** UUIDv7 of the firing and of the event `alert.fired`. */
  readonly eventId: string;
  /** Including this firing. */
  readonly incident: AlertIncident;
  /** The rows that the rule's conditions were evaluated on. Opaque: only the rule evaluator can interpret it. */
  readonly evidence: string;
  readonly threshold: number;
  /** In the unit of the threshold; null for `composite`. */
  readonly value: number | null;
  /** Data of the event `alert.fired`. */
  readonly data: object;
  /** The traces that explain the firing best, best first. */
  readonly traceIds: readonly string[];
}

/** A firing that only tests the notification. Its data contain `is_test: true`. */
export type TestFiring = Pick<
  DecidedFiring,
  'alertId' | 'firedAt' | 'eventId' | 'threshold' | 'value' | 'data'
>;

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
  /** Whether a user asked for it, to test the notification. */
  readonly is_test: boolean;
  readonly notifications: readonly AlertNotification[];
}

/** A firing, with the rule that fired and what explains it. */
export interface AlertEvent
  extends AlertFiring, Pick<Alert, 'name' | 'type' | 'agent_id' | 'agent_name' | 'target_service'> {
  readonly alert_id: string;
  /** The envelope of `alert.fired`, whose data contain the evaluated values. */
  readonly body: string;
  /** The best first. */
  readonly trace_ids: readonly string[];
}

/** Selects firings of a user. */
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
  /** Number of matches on all pages. */
  readonly count: number;
}

/** A reader's position in the change feed of rules. Opaque: only the store that created it can interpret it. */
export type RulesVersion = string;

/** Changes since a version, for a cache of the active rules; apply them in this order. */
export interface RuleChanges {
  /** Whether `put` contains all rules, so that all others must be dropped. */
  readonly isAll: boolean;
  /** New, changed or activated rules, the oldest first; some may be unchanged. */
  readonly put: readonly AlertRule[];
  /** The ids of rules that are paused or deleted, or whose user is disabled. */
  readonly removed: readonly string[];
  /** The version for the next call. */
  readonly version: RulesVersion;
}

export interface FiringPage {
  /** The newest first. */
  readonly items: readonly AlertFiring[];
  /** Number of items on all pages. */
  readonly count: number;
}

/**
 * Alert rules of users, with their firings. Rules of other users appear not to exist; ids are accepted in upper and lower case. Changes
 * are durable when they resolve, and are serialized; watchers of `rules` are notified of every change. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface AlertRules {
  /** The newest first. */
  list(userId: string): Promise<readonly ListedRule[]>;
  /**
   * @param alert with the name of its agent, which is stored unchanged
   * @param most maximum number of the user's rules after the call, also with concurrent calls
   * @returns `unknown` if the user does not exist
   */
  create(userId: string, alert: Alert, most: number): Promise<'created' | 'full' | 'unknown'>;
  /** A rule, active or not; null if it does not exist. */
  read(userId: string, id: string): Promise<AlertRule | null>;
  /**
   * Pausing a rule ends its incident, without an event. A change that would leave channel `webhook` or `both` without a URL changes
   * nothing.
   *
   * @returns the updated rule; null if it does not exist
   */
  update(
    userId: string,
    id: string,
    change: AlertChange,
    now: Micros,
  ): Promise<AlertRule | 'lacks_webhook_url' | null>;
  /** Deletes a rule with its firings and their notices. @returns false if it did not exist */
  delete(userId: string, id: string): Promise<boolean>;
  /** Newest first. @returns null if the user has no such rule */
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
   * Changes of active rules of users that are not disabled. A reader that passes each returned version to the next call misses no
   * change, including firings and resolutions.
   *
   * @param since null for all rules; all are also returned if the version is too old
   * @throws RangeError if this store did not create the version
   */
  follow(since: RulesVersion | null): Promise<RuleChanges>;
  /**
   * Writes everything that firings cause in one transaction: the firing, the rule's `last_fired_at`, its incident and evidence, a notice
   * for each channel, and the event `alert.fired`, once, if it is subscribed to. Writes nothing for a rule that is paused or deleted, or
   * that has fired since the decision: of several evaluators that decide the same, one wins. Watchers of `notices` are notified.
   *
   * @returns for each firing whether it was written
   */
  recordFirings(firings: readonly DecidedFiring[]): Promise<readonly boolean[]>;
  /**
   * Writes a test firing, already resolved, with a notice for each channel, as for real ones. Incident, cooldown and events do not
   * change. Watchers of `notices` are notified.
   *
   * @returns the firing; null if the user has no such rule
   */
  recordTest(userId: string, firing: TestFiring): Promise<AlertFiring | null>;
  /**
   * Ends incidents, with the event `alert.resolved`. Incidents that have already ended do not change.
   *
   * @returns for each whether it was written
   */
  recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]>;
  /**
   * Records that rules are being evaluated.
   *
   * @param source the telemetry source of the evaluation
   * @returns when this was last recorded for the source; null for never
   */
  beat(source: string, now: Micros): Promise<Micros | null>;
  /**
   * Removes the firings before a time, with their notices in any state; incidents continue.
   *
   * @returns the number of firings removed
   */
  removeBefore(time: Micros): Promise<number>;
}

/** The state of a notice. */
export const NOTIFICATION_STATUSES = ['pending', 'sent', 'failed', 'skipped', 'suppressed'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];
export const NOTIFICATION_CHANNELS = ['email', 'webhook'] as const;
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number];

/** Maximum number of notices of one alert and channel sent per hour; more are stored as `suppressed`. */
export const MAX_NOTICES_PER_HOUR = 60;

export interface NotificationAttempt {
  /** From 1. */
  readonly attempt_number: number;
  readonly attempted_at: Micros;
  /** HTTP or SMTP status code; null without a response. */
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

/** Identifies a sender's claim of a notice. */
export interface NoticeClaim {
  readonly number: number;
  /** Increases with every claim: a result under an earlier token changes nothing. */
  readonly token: number;
}

/** A due notice, claimed by a sender. */
export interface ClaimedNotice extends NoticeClaim {
  readonly channel: NotificationChannel;
  readonly alertId: string;
  /** The id of the alert's event; ids of messages are derived from it. */
  readonly eventId: string;
  readonly userId: string;
  /** The current address of the account. */
  readonly email: string;
  /** The URL as it was when the alert fired; null for an e-mail. */
  readonly webhookUrl: string | null;
  /** The envelope of `alert.fired`: the JSON text that is sent. */
  readonly body: string;
  /** Number of earlier attempts. */
  readonly attempts: number;
}

/** Requests due notices. */
export interface NoticeRequest {
  readonly now: Micros;
  /** How many more notices of each channel the sender can take. */
  readonly free: Readonly<Record<NotificationChannel, number>>;
  /**
   * Maximum number running for one user, per channel and over all senders, so that a receiver that hangs does not block other users.
   */
  readonly perUser: Readonly<Record<NotificationChannel, number>>;
  /** Maximum number of webhooks running to one host; users share it fairly. */
  readonly perHost: number;
  /** Duration of the claim in milliseconds; must exceed the duration of an attempt. */
  readonly leaseMs: number;
}

export interface NoticeClaims {
  /** The longest overdue first. */
  readonly items: readonly ClaimedNotice[];
  /** When the next notice is due that the limits allow; null if none is allowed before another is finished or its claim ends. */
  readonly nextDueAt: Micros | null;
}

/** Result of an attempt, or why none was made. Status `pending` requires a `retryAt`. */
export interface NoticeResult extends NoticeClaim {
  readonly status: NotificationStatus;
  readonly detail: string | null;
  /** Null if no attempt was made. */
  readonly attempt: NotificationAttempt | null;
  /** When the next attempt is due; only for status `pending`. */
  readonly retryAt: Micros | null;
}

/** Requests that due notices are skipped without an attempt. */
export interface SkipRequest {
  readonly now: Micros;
  readonly channel: NotificationChannel;
  /** The reason. */
  readonly detail: string;
  /** Users whose notices are skipped, limited to notices never attempted; null for all notices. */
  readonly userIds: readonly string[] | null;
  readonly most: number;
}

/**
 * Notices of firing alerts, one for each channel. Several senders may claim concurrently: each notice is sent at least once, and one
 * sender holds it at a time. A claim that is not renewed expires and the notice is due again, so senders should poll. Changes are
 * durable when they resolve; watchers of `notices` are notified of new ones. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface Notices {
  /** Claims due notices: fairly between users, and for each user the longest overdue first. */
  claim(request: NoticeRequest): Promise<NoticeClaims>;
  /**
   * Extends claims to this many milliseconds from now.
   *
   * @returns for each, false if another sender has claimed the notice, or it is finished or deleted
   */
  renew(claims: readonly NoticeClaim[], ms: number): Promise<readonly boolean[]>;
  /**
   * Records the results of attempts and releases the claims.
   *
   * @returns for each, false, with nothing recorded, if another sender has claimed the notice, its result was already recorded, or its
   * alert was deleted
   */
  finish(results: readonly NoticeResult[]): Promise<readonly boolean[]>;
  /** Marks due, unclaimed notices as `skipped`, the longest overdue first. @returns how many */
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
  /** Replaces the secret of the user; the previous one is no longer used. */
  rotate(userId: string, secret: StoredAlertSecret): Promise<void>;
}

// The telemetry statistics that alerts read.

/** Identifies the rows that were read. Opaque: only the store that created it can compare it with later rows. */
export type Evidence = string;

/** The runs of an agent, the spans of a node (service) or the runs of all agents, whose stats are requested. */
export type Target =
  | { readonly userId: string; readonly isAllAgents: true }
  | { readonly userId: string; readonly agentId: string }
  | { readonly userId: string; readonly service: string };

/** Which stats of a target are requested; the others are null in the result. */
export interface WantedStats {
  readonly target: Target;
  readonly runs: boolean;
  readonly cost: boolean;
  readonly activity: boolean;
  /** Evidence of earlier reads of the window: for each, the result says whether anything is new. */
  readonly since?: readonly Evidence[];
}

/** A metric whose series are requested. */
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

/** Scores whose mean is requested: those of the runs of an agent or of all agents, of their spans and responses. */
export interface WantedScore {
  readonly userId: string;
  /** Null for all agents. */
  readonly agentId: string | null;
  readonly name: string;
  /** As {@link WantedStats.since}. */
  readonly since?: readonly Evidence[];
}

/** The rows that were read, and whether they differ from earlier reads. */
export interface Looked {
  readonly evidence: Evidence;
  /** For each `since`: whether any row was added or changed since then. True if this store did not create the evidence. */
  readonly isNew: readonly boolean[];
}

export interface Observing {
  /** The current time, the same for all requests. */
  readonly now: Micros;
  /** Finished after this, and not after `now`. */
  readonly windowStart: Micros;
  /** Days by start (included) and end (excluded): runs that started within them count. */
  readonly days: readonly { readonly from: Micros; readonly to: Micros }[];
  readonly targets: readonly WantedStats[];
  readonly metrics: readonly WantedMetric[];
  /** Absent: none. */
  readonly scores?: readonly WantedScore[];
  /** Points after this, and not after `now`. */
  readonly pointsStart: Micros;
}

/** Finished runs (or spans) of a target in the window, by event time: the end, else the start, capped at the time of arrival. */
export interface WindowStats extends Looked {
  readonly finished: number;
  /** `success` is false, or it is null and the status is `failed` or `timed_out`. Spans count by status alone. */
  readonly failed: number;
  /** Number with a duration. */
  readonly timed: number;
  /** `quantile_cont` of their `duration_ms`; null if no run has a duration. */
  readonly p95_ms: number | null;
}

/** Cost of a target's runs (or spans) on one day. */
export interface CostStats {
  readonly cost: Usd;
  /** Number with a cost. */
  readonly priced: number;
}

export interface TargetStats {
  /** Null if not requested, or if the target does not exist (yet). */
  readonly window: WindowStats | null;
  /** Ordered as the requested days; empty if not requested, or if the target does not exist. */
  readonly costs: readonly CostStats[];
  /**
   * The last time of any run or span, capped at the time of arrival, including those that retention has removed; for an agent without
   * runs, its creation time. Null if absent, or if it was not requested.
   */
  readonly activeAt: Micros | null;
}

/** The newest point of each series of a metric. */
export interface MetricStats extends Looked {
  readonly series: number;
  /** Over the values of the points; null without points. */
  readonly min: number | null;
  readonly max: number | null;
}

/** Scores given after the start of the window, and not after `now`, each once in its newest form. */
export interface ScoreStats extends Looked {
  /** Number with a value. */
  readonly values: number;
  /** As in `ScoreTotals`. */
  readonly mean: number | null;
}

export interface Observed {
  /** Ordered as the requested targets. */
  readonly targets: readonly TargetStats[];
  /** Ordered as the requested metrics; an unknown metric has no series. Points without a finite value are left out. */
  readonly metrics: readonly MetricStats[];
  /** Ordered as the requested scores. Absent: none were requested. */
  readonly scores?: readonly ScoreStats[];
}

/** Requests the runs that explain best why an alert fires. */
export interface ExampleQuery {
  readonly target: Target;
  readonly type: RunCondition['type'] | 'score_threshold';
  /** With `score_threshold`: the runs whose scores are beyond its threshold, the farthest first. */
  readonly score?: ScoreCondition;
  readonly from: Micros;
  readonly to: Micros;
}

/**
 * Telemetry statistics for alerts. Each result is a consistent snapshot that includes every write acknowledged before the call. Evidence
 * is valid for one store (`TelemetryStore.identity`); another store reports everything as new. Every method may throw a `ConsumeError`
 * with `storage_unavailable` (retryable).
 */
export interface AlertStats {
  observe(request: Observing): Promise<Observed>;
  /** Ids of at most twenty traces of each: failed, the slowest, or the most expensive ones; none for `inactivity`. */
  exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]>;
}

/** Statistics for evaluating alerts at past times. */
export interface PastStats {
  /**
   * The results of {@link AlertStats.observe} for one user at past times, from the rows stored now: late spans and outcomes count as if
   * they had arrived in time, and rows removed by retention are missing. A run that was in progress counts as activity.
   *
   * @param requests equal except for their times, which are evenly spaced, oldest first; targets and metrics are always this user's
   * @returns a result for each
   * @throws ConsumeError `overloaded` if the user has reached its limit of concurrent reads
   */
  observe(userId: string, requests: readonly Observing[], abort?: AbortSignal): Promise<readonly Observed[]>;
}
