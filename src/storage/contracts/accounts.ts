import type { Scope } from '../../component/identity.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';
import type { Organization } from './organizations.js';

export interface User {
  /** UUIDv7 */
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** Null: the default of the daemon applies. */
  readonly monthly_event_limit: number | null;
  /** Bytes that it may store, 0 for any number. Null: the default of the daemon applies. */
  readonly stored_bytes_limit: number | null;
  /** The user's keys are refused and its alerts rest; what it has stays. */
  readonly disabled: boolean;
  readonly created_at: Micros;
}

/** Absent values stay as they are. */
export interface UserChange {
  readonly email?: string;
  readonly name?: string;
  readonly monthly_event_limit?: number | null;
  readonly stored_bytes_limit?: number | null;
  readonly disabled?: boolean;
}

/**
 * The ids of the keys that are revoked now and were not before. `last_admin`: nothing was revoked, because otherwise nobody could
 * administer any more.
 */
export type RevokedKeys = readonly string[] | 'last_admin' | 'unknown';

/** How long revoked and expired keys stay listed. They are removed when a key is created or revoked after that. */
export const ENDED_KEPT_FOR: Micros = 90 * 86_400 * MICROS_PER_SECOND;
/** Ended keys of a user that stay listed, the newest, and those of the last day. */
export const MOST_ENDED = 100;
/** Other processes learn of a revocation by its row, so that the row stays for so long at least. */
export const FOLLOWED_WITHIN: Micros = 86_400 * MICROS_PER_SECOND;

/** A user as it is stored. */
export interface StoredUser extends User {
  /** What rows of telemetry carry in place of the id: from 1, and never given twice. */
  readonly tenant: number;
}

/** An API key without its secret. */
export interface ApiKey {
  /** UUIDv7 */
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  /** The first 11 characters, for display. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly created_at: Micros;
  readonly expires_at: Micros | null;
  readonly revoked_at: Micros | null;
  readonly last_used_at: Micros | null;
  /** The key that made it, itself or through a browser session; it may have been removed since. */
  readonly parent_id: string | null;
}

/** A key with the SHA-256 of its text, 64 lower-case hex digits. */
export interface StoredKey extends ApiKey {
  readonly digest: string;
}

/** A key that was found, whatever its state, with its user. */
export interface FoundKey {
  readonly key: StoredKey;
  readonly user: StoredUser;
}

/** What decides whether a key is accepted. */
export interface FollowedKey extends Pick<
  StoredKey,
  'id' | 'user_id' | 'digest' | 'scopes' | 'expires_at' | 'revoked_at'
> {
  /** Its user's keys are refused. */
  readonly user_disabled: boolean;
}

/** How far somebody has followed the keys. Opaque. */
export type KeysVersion = string;

/** Keys that are new, or about which something was decided, since a version. */
export interface KeyChanges {
  /** In the order of their changes. */
  readonly keys: readonly FollowedKey[];
  readonly version: KeysVersion;
  /** Whether there were already more behind this version. */
  readonly hasMore: boolean;
}

/** What {@link Accounts.bootstrap} makes. */
export interface FirstAccount {
  readonly user: User;
  readonly organization: Organization;
  readonly key: StoredKey;
}

/**
 * Users and their keys. Changes are durable when they resolve; watchers of `keys` are told when keys, or what a key may do,
 * changed. Ids are accepted in upper and lower case. Every method may throw a `ConsumeError` with `storage_unavailable`
 * (retryable).
 */
export interface Accounts {
  findUser(id: string): Promise<StoredUser | null>;
  /** @returns the ids of the users with these tenant numbers, as far as such users exist */
  findTenants(tenants: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Bytes of users' prompts, saved views and alerts, by their tenant numbers. Users without any are left out. */
  storedBytes(): Promise<ReadonlyMap<number, number>>;
  /** The oldest first. */
  listUsers(): Promise<readonly StoredUser[]>;
  /**
   * @returns the user's tenant number
   * @throws ConflictError `email`, where it exists in any case
   */
  createUser(user: User): Promise<number>;
  /**
   * @returns the user as it is now; null where there is none; `last_admin` where it was to be disabled but has the last admin
   *   keys that do not expire: nothing was changed then
   * @throws ConflictError `email`
   */
  updateUser(id: string, change: UserChange): Promise<StoredUser | 'last_admin' | null>;
  /** @param digest SHA-256 of the key's text, 64 lower-case hex digits */
  findKey(digest: string): Promise<FoundKey | null>;
  /** Every key, or every one of a user, with ended ones of the last 90 days; the oldest first. */
  listKeys(userId?: string): Promise<readonly StoredKey[]>;
  /**
   * What changed since somebody last read the keys, some hundreds at a time: the cost depends on what has changed, not on how
   * many keys there are.
   *
   * @param since null: all
   * @throws RangeError where it is no version
   */
  followKeys(since: KeysVersion | null): Promise<KeyChanges>;
  /** @returns false where there is no such user, or the parent was revoked */
  createKey(key: StoredKey): Promise<boolean>;
  /**
   * A key that was revoked before keeps its first time. The last admin key that does not expire, of a user that is not disabled,
   * stays.
   *
   * @param withChildren also revokes the keys that it made, and those that these made
   */
  revokeKey(id: string, at: Micros, withChildren?: boolean): Promise<RevokedKeys>;
  /** Notes when keys were used; a later time stays. Unknown keys are ignored. */
  touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void>;
  /** First user, organization, membership and key in one transaction. @returns false, and nothing done, if there is a user. */
  bootstrap(first: FirstAccount): Promise<boolean>;
}
