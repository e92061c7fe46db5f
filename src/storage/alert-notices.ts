import type { Micros } from '../signal/time.js';
import type { NotificationAttempt, NotificationChannel, NotificationStatus } from './notices.js';

export * from './notices.js';

/** The notices of the DuckDB file's own, which go with it. */

/** A notice that is due. Its sender names it by `number`. */
export interface DueNotification {
  readonly number: number;
  readonly channel: NotificationChannel;
  readonly alertId: string;
  /** Of the alert's event; deterministic ids of messages are made from it. */
  readonly eventId: string;
  readonly userId: string;
  /** The account's address, as it is now. */
  readonly email: string;
  /** As it was when the alert fired; null for an e-mail. */
  readonly webhookUrl: string | null;
  /** The envelope of `alert.fired`: the JSON text that is sent. */
  readonly body: string;
  /** Attempts that were made before. */
  readonly attempts: number;
}

/** A notice that its sender has, and where its place counts. */
export type HeldNotification = Pick<DueNotification, 'number' | 'userId' | 'channel'>;

/** How many notices of a channel may be under way at once. */
export interface NotificationPlaces {
  readonly all: number;
  /** To one user: whose receiver hangs holds up no others. */
  readonly perUser: number;
}

/** Asks for notices that can begin. */
export interface DueRequest {
  readonly now: Micros;
  /** Those that the sender has already: they keep their places. */
  readonly held: readonly HeldNotification[];
  readonly places: Readonly<Record<NotificationChannel, NotificationPlaces>>;
}

/** Asks for due notices to be settled without an attempt. */
export interface SkipRequest {
  readonly now: Micros;
  readonly channel: NotificationChannel;
  /** Why. */
  readonly detail: string;
  /** Whose, and of them those that were not tried before; null for all. */
  readonly userIds: readonly string[] | null;
  /** Those that the sender has already: they are not meant. */
  readonly held: readonly Pick<HeldNotification, 'number'>[];
  readonly most: number;
}

/** How an attempt ended, or why none was made. */
export interface NotificationResult {
  readonly number: number;
  readonly status: NotificationStatus;
  readonly detail: string | null;
  /** Null where none was made. */
  readonly attempt: NotificationAttempt | null;
  /** When it is due again; for status `pending` only. */
  readonly retryAt: Micros | null;
}
