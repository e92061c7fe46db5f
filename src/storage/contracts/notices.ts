import type { Micros } from '../../signal/time.js';

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
