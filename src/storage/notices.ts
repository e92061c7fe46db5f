import type { Micros } from '../signal/time.js';
import type {
  DueNotification,
  NotificationChannel,
  NotificationResult,
  NotificationStatus,
  SkipRequest,
} from './alert-notices.js';

/** A notice that a sender has for a time. */
export interface NoticeClaim {
  readonly number: number;
  /** Grows with every claim: one of before changes nothing. */
  readonly token: number;
}

export interface ClaimedNotice extends DueNotification, NoticeClaim {}

/** Asks for notices that are due. */
export interface ClaimRequest {
  readonly now: Micros;
  /** How many of each channel the sender has room for. */
  readonly free: Readonly<Record<NotificationChannel, number>>;
  /** How many of each channel may be under way to one user, by all senders together: whose receiver hangs holds up no others. */
  readonly perUser: Readonly<Record<NotificationChannel, number>>;
  /** How long they are the sender's, in milliseconds: longer than an attempt takes. */
  readonly leaseMs: number;
}

export interface NoticeClaims {
  /** The longest overdue first. */
  readonly items: readonly ClaimedNotice[];
  /** When one is due that will have a place then; null where none has before another is settled, or its claim ends. */
  readonly nextDueAt: Micros | null;
}

/** How an attempt ended, or why none was made. A status of `pending` needs a `retryAt`. */
export interface NoticeResult extends NotificationResult, NoticeClaim {
  readonly status: NotificationStatus;
}

/**
 * What is told of firings of alerts, a notice for each channel. Several senders may claim side by side: each notice is at least told once,
 * and is one sender's at a time. A claim that is not renewed ends by itself, and the notice is due again, so who waits asks now and then.
 * Changes are durable when they resolve; watchers of `notices` are told of new ones. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface Notices {
  /** Takes notices that are due: users take turns, and of each the longest overdue comes first. */
  claim(request: ClaimRequest): Promise<NoticeClaims>;
  /** Holds claims for so many milliseconds from now. @returns for each false where somebody claimed it since, or it is settled or gone */
  renew(claims: readonly NoticeClaim[], ms: number): Promise<readonly boolean[]>;
  /**
   * Notes how attempts ended, and gives the claims back.
   *
   * @returns for each false, and nothing noted, where somebody claimed it since, or its result was noted, or its alert is gone
   */
  finish(results: readonly NoticeResult[]): Promise<readonly boolean[]>;
  /** Settles due notices that nobody has claimed as `skipped`, the longest overdue first. @returns how many */
  skip(request: Omit<SkipRequest, 'held'>): Promise<number>;
}
