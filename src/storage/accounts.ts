import type { Micros } from '../signal/time.js';
import type { Organization, RevokedKey, StoredKey, User, UserChange } from './meta-store.js';

/** A user as it is stored. */
export interface StoredUser extends User {
  /** What rows of telemetry carry instead of the id: from 1, and never given twice. */
  readonly tenant: number;
}

/** A key that was found, whatever its state, with its user. */
export interface FoundKey {
  readonly key: StoredKey;
  readonly user: StoredUser;
}

/** What {@link Accounts.bootstrap} makes. */
export interface FirstAccount {
  readonly user: User;
  readonly organization: Organization;
  readonly key: StoredKey;
}

/**
 * Users and their keys. Changes are durable when they resolve; those of keys and of what a key may do are told to the watchers of `keys`.
 * Ids are taken in any case. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Accounts {
  findUser(id: string): Promise<StoredUser | null>;
  /** @returns the ids of the users with these tenant numbers, as far as there are any */
  findTenants(tenants: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** The oldest first. */
  listUsers(): Promise<readonly StoredUser[]>;
  /** @returns the user's tenant number @throws ConflictError `email`, in any case */
  createUser(user: User): Promise<number>;
  /**
   * @returns the user as it is now; null where there is none; `last_admin` where it was to be disabled and has the last admin keys without
   * an end, and nothing was changed
   * @throws ConflictError `email`
   */
  updateUser(id: string, change: UserChange): Promise<StoredUser | 'last_admin' | null>;
  /** @param digest SHA-256 of the key's text, 64 lower-case hex digits */
  findKey(digest: string): Promise<FoundKey | null>;
  /** Every key, or every one of a user, revoked ones included; the oldest first. */
  listKeys(userId?: string): Promise<readonly StoredKey[]>;
  /** @returns false where there is no such user */
  createKey(key: StoredKey): Promise<boolean>;
  /** A key revoked before keeps its first time. The last admin key without an end, of a user that is not disabled, stays. */
  revokeKey(id: string, at: Micros): Promise<RevokedKey>;
  /** Notes when keys were used; a later time stays. Unknown keys are left out. */
  touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void>;
  /** First user, organization, membership and key in one transaction. @returns false, and nothing done, if there is a user. */
  bootstrap(first: FirstAccount): Promise<boolean>;
}
