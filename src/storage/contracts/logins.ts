import { MICROS_PER_DAY, MICROS_PER_HOUR } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';

/** A login that is not used ends after this time, */
export const LOGIN_IDLE: Micros = 12 * MICROS_PER_HOUR;
/** and every one after this. */
export const LOGIN_LONGEST: Micros = 7 * MICROS_PER_DAY;

/** A browser that entered with a key, without the secret in its cookie. */
export interface Login {
  /** UUIDv7 */
  readonly id: string;
  /** SHA-256 of the secret, 64 lower-case hex digits. */
  readonly digest: string;
  readonly user_id: string;
  /** The key that it acts by: it can do what the key can, and as long as the key holds. */
  readonly key_id: string;
  readonly created_at: Micros;
  /** Expiry time, extended by use. */
  readonly expires_at: Micros;
  /** Written at most once a minute. */
  readonly last_seen_at: Micros;
  /** Of the client that logged in; null if unknown, as for those of earlier versions. */
  readonly address: string | null;
  /** What that browser calls itself. */
  readonly user_agent: string | null;
}

/** A login that is new, or about which something was decided. */
export interface FollowedLogin extends Login {
  readonly has_ended: boolean;
}

/** How far somebody has followed the logins. Opaque. */
export type LoginsVersion = string;

/** Logins that changed since a version. */
export interface LoginChanges {
  /** In the order of their changes. */
  readonly logins: readonly FollowedLogin[];
  readonly version: LoginsVersion;
  /** Whether there were already more behind this version. */
  readonly hasMore: boolean;
}

/** A text that may be exchanged for a login once. */
export interface LoginLink {
  /** SHA-256 of the text, 64 lower-case hex digits. */
  readonly digest: string;
  readonly user_id: string;
  readonly key_id: string;
  readonly expires_at: Micros;
}

/** At most so many logins of a user hold at a time. */
export const LOGINS_OF_A_USER = 50;
/** At most so many links of a user can be used at a time. */
export const LINKS_OF_A_USER = 20;

/**
 * Browsers that entered, and links by which they may. Changes are durable when they resolve; watchers of `logins` are told of them.
 * Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Logins {
  /**
   * Takes the place of the user's login that would expire next, where it has {@link LOGINS_OF_A_USER} already. What expired is
   * removed.
   *
   * @param login its `created_at` is now
   */
  create(login: Login): Promise<void>;
  /**
   * What changed since somebody last read the logins, some hundreds at a time; those that expired may be missing.
   *
   * @param since null: all
   * @throws RangeError where it is no version
   */
  follow(since: LoginsVersion | null): Promise<LoginChanges>;
  /** Logins of a user that have neither ended nor expired, the newest first. */
  list(userId: string, now: Micros): Promise<readonly Login[]>;
  /** Unknown ids are ignored. */
  end(ids: readonly string[]): Promise<void>;
  /**
   * Lets logins last until {@link LOGIN_IDLE} after their use, {@link LOGIN_LONGEST} at most: a later use stays. Those that ended or
   * are gone are ignored.
   */
  extend(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void>;
  /** Takes the place of the user's link that would expire next, where it has {@link LINKS_OF_A_USER} already. */
  createLink(link: LoginLink, now: Micros): Promise<void>;
  /** @returns a link that has not expired, which stays; null if there is none */
  findLink(digest: string, now: Micros): Promise<LoginLink | null>;
  /** Uses a link up. @returns what it was made of; null where there is none that has not expired */
  redeemLink(digest: string, now: Micros): Promise<LoginLink | null>;
}
