import type { Usd } from '../signal/money.js';
import type { Micros } from '../signal/time.js';
import type { DueNotification, DueRequest, SkipRequest, NotificationResult } from './alert-notices.js';
import type { Alert, AlertChange, AlertFiring, AlertIncident, Resolution } from './alert-rules.js';
import type { AlertingTerms } from './terms.js';

export * from './alert-rules.js';
export type { AlertFiring as AlertEvent } from './alert-rules.js';
export type { AlertingTerms } from './terms.js';

/** The alerts of the DuckDB file's own, which go with it. */

/** What conditions looked at when their alert last fired, one for each: by it news are told from what is known. */
export type AlertEvidence = readonly (EvidenceOfRows | EvidenceOfCost | null)[];

/** The greatest `seq` of the rows that a condition looked at. */
export interface EvidenceOfRows {
  readonly seq: number;
}

/** What was spent on a day, by its first moment. */
export interface EvidenceOfCost {
  readonly day: Micros;
  readonly cost: Usd;
}

/** An alert, with what its evaluation depends on. */
export interface AlertRule {
  readonly userId: string;
  readonly alert: Alert;
  /** Null while it is not firing. */
  readonly incident: AlertIncident | null;
  /** Of its newest firing; null where it has never fired. */
  readonly evidence: AlertEvidence | null;
}

/** That an alert fires, to be written in one transaction. */
export interface Firing {
  readonly alertId: string;
  /** What `last_fired_at` was when it was decided: where it is another by now, nothing is written. */
  readonly lastFiredAt: Micros | null;
  readonly firedAt: Micros;
  /** UUIDv7 of the alert's event. */
  readonly eventId: string;
  /** With this firing. */
  readonly incident: AlertIncident;
  readonly evidence: AlertEvidence;
  readonly threshold: number;
  /** In the unit of the threshold; null of `composite`. */
  readonly value: number | null;
  /** Of the event `alert.fired`. */
  readonly data: object;
}

/** What became of a new alert: there is room for no more, or the agent is not the user's. */
export type CreatedAlert = 'created' | 'full' | 'unknown_agent';

/** What happened to the rules: a rule is new or was changed, or is there or active no more, or its user was disabled. */
export type RuleChange =
  { readonly kind: 'put'; readonly rule: AlertRule } | { readonly kind: 'removed'; readonly alertId: string };

/**
 * The alerts of a store: rules, what became of them, and what they are evaluated by. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable); changes are durable when they resolve. What belongs to another
 * user is not there.
 */
export interface AlertStore {
  /** The newest first. */
  listAlerts(userId: string): Promise<readonly Alert[]>;
  /** @param alert its `agent_name` is filled in @returns what became of it, and the alert as it was stored */
  createAlert(
    userId: string,
    alert: Alert,
    most: number,
  ): Promise<{ readonly outcome: CreatedAlert; readonly alert: Alert }>;
  readAlert(userId: string, id: string): Promise<Alert | null>;
  /**
   * Pausing an alert ends its incident, without an event. A change that leaves channel `webhook` or `both` without a URL
   * changes nothing.
   *
   * @returns the alert as it is now; null where there is none
   */
  updateAlert(
    userId: string,
    id: string,
    change: AlertChange,
    now: Micros,
  ): Promise<Alert | 'lacks_webhook_url' | null>;
  /** With its events and what was to be sent. @returns false where there was none */
  deleteAlert(userId: string, id: string): Promise<boolean>;
  /** The newest first. @returns null where the user has no such alert */
  listAlertEvents(
    userId: string,
    id: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly AlertFiring[]; readonly count: number } | null>;

  /** Of all users that are not disabled: those that are active. */
  listRules(): Promise<readonly AlertRule[]>;
  /** One rule, active or not, for who wants to try it. */
  readRule(userId: string, id: string): Promise<AlertRule | null>;
  /** Tells of changes by others than the evaluator, after their commit. @returns what ends it */
  watchRules(listener: (change: RuleChange) => void): () => void;
  /**
   * Writes what each firing brings with it, all of one in one transaction: the alert's event, `last_fired_at`, the incident,
   * a notice for each channel, and the event `alert.fired`. One that somebody else decided meanwhile, or whose alert is
   * paused or gone, changes nothing.
   *
   * @returns for each whether it was written
   */
  recordFirings(firings: readonly Firing[]): Promise<readonly boolean[]>;
  /** Ends incidents, and writes `alert.resolved`. One that is over already changes nothing. @returns for each whether it was written */
  recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]>;
  /** Notes that rules are evaluated. @returns when that was noted last; null for never */
  beatAlerts(now: Micros): Promise<Micros | null>;

  /** Calls back when notices may be due. @returns what ends it */
  watchNotifications(listener: () => void): () => void;
  /**
   * Notices that are due and have a place: users take turns, and of each the longest overdue comes first.
   *
   * @returns `nextDueAt`: when one is due that will have a place then; null where none has before one that is held ends
   */
  dueNotifications(
    request: DueRequest,
  ): Promise<{ readonly items: readonly DueNotification[]; readonly nextDueAt: Micros | null }>;
  /** Settles due notices as `skipped`, the longest overdue first. @returns how many */
  skipNotifications(request: SkipRequest): Promise<number>;
  /** Notes how attempts ended. Of an alert that was deleted nothing is noted. */
  finishNotifications(results: readonly NotificationResult[]): Promise<void>;

  /** Says how the alerts are evaluated, for whoever shows it. @returns what withdraws it */
  announceAlerting(terms: AlertingTerms): () => void;
  /** As announced last; null where nobody evaluates them. */
  readonly alertingTerms: AlertingTerms | null;
}

/** Finds an alert store among extensions. */
export function isAlertStore(candidate: unknown): candidate is AlertStore {
  return typeof candidate === 'object' && candidate !== null && 'recordFirings' in candidate;
}
