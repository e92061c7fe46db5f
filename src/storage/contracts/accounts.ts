// User accounts and API keys, browser sessions, organizations, saved views, and the audit log.

import type { Scope } from '../../component/identity.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_SECOND } from '../../signal/time-units.js';

export interface User {
  /** UUIDv7 */
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** Null: the default of the daemon applies. */
  readonly monthly_event_limit: number | null;
  /** Storage limit in bytes; 0 for no limit. Null: the daemon's default applies. */
  readonly stored_bytes_limit: number | null;
  /** The user's keys are rejected and its alerts are not evaluated; stored data is kept. */
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

/** The ids of the keys that this call revoked. `last_admin`: nothing was revoked, because no administrator would remain. */
export type RevokedKeys = readonly string[] | 'last_admin' | 'unknown';

/** How long revoked and expired keys stay listed. Later they are removed when a key is created or revoked. */
export const ENDED_KEPT_FOR: Micros = 90 * 86_400 * MICROS_PER_SECOND;
/** How many of a user's newest ended keys stay listed, besides those that ended in the last day. */
export const MOST_ENDED = 100;
/** Other processes learn of a revocation from its row, so the row is kept at least this long. */
export const FOLLOWED_WITHIN: Micros = 86_400 * MICROS_PER_SECOND;

/** A stored user. */
export interface StoredUser extends User {
  /** The number that identifies the user in telemetry rows: from 1, never reused. */
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
  /** The key that created this key, directly or through a browser session; once that key is removed, its parent. */
  readonly parent_id: string | null;
}

/** A key with the SHA-256 of its text, 64 lower-case hex digits. */
export interface StoredKey extends ApiKey {
  readonly digest: string;
}

/** A key in any state, and its user. */
export interface FoundKey {
  readonly key: StoredKey;
  readonly user: StoredUser;
}

/** The fields that decide whether a key is accepted. */
export interface FollowedKey extends Pick<
  StoredKey,
  'id' | 'user_id' | 'digest' | 'scopes' | 'expires_at' | 'revoked_at'
> {
  /** The user's keys are rejected. */
  readonly user_disabled: boolean;
}

/** A reader's position in the change feed of keys. Opaque. */
export type KeysVersion = string;

/** Keys that were created or changed since a version. */
export interface KeyChanges {
  /** In the order of their changes. */
  readonly keys: readonly FollowedKey[];
  readonly version: KeysVersion;
  /** Whether more changes followed when this page was read. */
  readonly hasMore: boolean;
}

/** The records that {@link Accounts.bootstrap} creates. */
export interface FirstAccount {
  readonly user: User;
  readonly organization: Organization;
  readonly key: StoredKey;
}

/**
 * Users and their keys. Changes are durable when they resolve; watchers of `keys` are notified when keys or their permissions change.
 * Ids are accepted in upper and lower case. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Accounts {
  findUser(id: string): Promise<StoredUser | null>;
  /** @returns the ids of the users with these tenant numbers; unknown numbers are left out */
  findTenants(tenants: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Bytes of users' prompts, saved views and alerts, by tenant number. Users without any are left out. */
  storedBytes(): Promise<ReadonlyMap<number, number>>;
  /** The oldest first. */
  listUsers(): Promise<readonly StoredUser[]>;
  /** @returns the user's tenant number @throws ConflictError `email`, if another user has the address in any case */
  createUser(user: User): Promise<number>;
  /**
   * @returns the updated user; null if it does not exist; `last_admin` if the change would disable the user with the last admin keys
   * that do not expire: then nothing is changed
   * @throws ConflictError `email`
   */
  updateUser(id: string, change: UserChange): Promise<StoredUser | 'last_admin' | null>;
  /** @param digest SHA-256 of the key's text, 64 lower-case hex digits */
  findKey(digest: string): Promise<FoundKey | null>;
  /** All keys, or all keys of one user, including keys that ended in the last 90 days; oldest first. */
  listKeys(userId?: string): Promise<readonly StoredKey[]>;
  /**
   * Keys that changed since a version, some hundreds per page. The cost depends on the number of changes, not of keys.
   *
   * @param since null: all keys
   * @throws RangeError if it is not a version
   */
  followKeys(since: KeysVersion | null): Promise<KeyChanges>;
  /** @returns false if the user does not exist, or the parent is revoked */
  createKey(key: StoredKey): Promise<boolean>;
  /**
   * A key that is already revoked keeps its first time. The last admin key without expiry of a user that is not disabled is not revoked.
   *
   * @param withChildren also revokes the keys that this key created, and their children
   */
  revokeKey(id: string, at: Micros, withChildren?: boolean): Promise<RevokedKeys>;
  /** Records when keys were used; a later recorded time is kept. Unknown keys are ignored. */
  touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void>;
  /**
   * Creates the first user, organization, membership and key in one transaction. @returns false, without any change, if a user exists
   */
  bootstrap(first: FirstAccount): Promise<boolean>;
}

/** Lifetime of a login without further use. */
export const LOGIN_IDLE: Micros = 12 * MICROS_PER_HOUR;
/** Maximum lifetime of a login. */
export const LOGIN_LONGEST: Micros = 7 * MICROS_PER_DAY;

/** A browser session created with a key, without the secret in its cookie. */
export interface Login {
  /** UUIDv7 */
  readonly id: string;
  /** SHA-256 of the secret, 64 lower-case hex digits. */
  readonly digest: string;
  readonly user_id: string;
  /** The key that the session acts for: it has the key's permissions and ends with the key. */
  readonly key_id: string;
  readonly created_at: Micros;
  /** When the login expires unless it is used. */
  readonly expires_at: Micros;
  /** Updated at most once a minute. */
  readonly last_seen_at: Micros;
  /** Address of the client that logged in; null if unknown, as for logins of earlier versions. */
  readonly address: string | null;
  /** The `User-Agent` header of the browser. */
  readonly user_agent: string | null;
}

/** A login that was created or changed. */
export interface FollowedLogin extends Login {
  readonly has_ended: boolean;
}

/** A reader's position in the change feed of logins. Opaque. */
export type LoginsVersion = string;

/** Logins that changed since a version. */
export interface LoginChanges {
  /** In the order of their changes. */
  readonly logins: readonly FollowedLogin[];
  readonly version: LoginsVersion;
  /** Whether more changes followed when this page was read. */
  readonly hasMore: boolean;
}

/** A one-time token that can be exchanged for a login. */
export interface LoginLink {
  /** SHA-256 of the text, 64 lower-case hex digits. */
  readonly digest: string;
  readonly user_id: string;
  readonly key_id: string;
  readonly expires_at: Micros;
}

/** Maximum number of valid logins per user. */
export const LOGINS_OF_A_USER = 50;
/** Maximum number of usable links per user. */
export const LINKS_OF_A_USER = 20;

/**
 * Browser sessions, and the one-time links that create them. Changes are durable when they resolve; watchers of `logins` are notified.
 * Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Logins {
  /**
   * Creates a login. If the user has {@link LOGINS_OF_A_USER}, it replaces the one that would expire next. Expired logins are removed.
   *
   * @param login its `created_at` is now
   */
  create(login: Login): Promise<void>;
  /**
   * Logins that changed since a version, some hundreds per page; expired ones may be missing.
   *
   * @param since null: all
   * @throws RangeError if it is not a version
   */
  follow(since: LoginsVersion | null): Promise<LoginChanges>;
  /** Logins of a user that have neither ended nor expired, the newest first. */
  list(userId: string, now: Micros): Promise<readonly Login[]>;
  /** Unknown ids are ignored. */
  end(ids: readonly string[]): Promise<void>;
  /**
   * Extends logins to {@link LOGIN_IDLE} after their use, {@link LOGIN_LONGEST} at most; a later recorded use is kept. Ended and removed
   * logins are ignored.
   */
  extend(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void>;
  /** Creates a link. If the user has {@link LINKS_OF_A_USER}, it replaces the one that would expire next. */
  createLink(link: LoginLink, now: Micros): Promise<void>;
  /** @returns a link that has not expired, without using it up; null if absent */
  findLink(digest: string, now: Micros): Promise<LoginLink | null>;
  /** Uses up a link. @returns the link; null if it does not exist or has expired */
  redeemLink(digest: string, now: Micros): Promise<LoginLink | null>;
}

export interface Organization {
  /** UUIDv7 */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly created_at: Micros;
}

export const ROLES = ['admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

export interface Membership {
  readonly slug: string;
  readonly organization_name: string;
  readonly role: Role;
}

/** A member of an organization. */
export interface Member {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}

/**
 * Organizations and their members. Changes are durable when they resolve. User ids are accepted in upper and lower case. Every method
 * may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Organizations {
  /** The oldest first. */
  list(): Promise<readonly Organization[]>;
  /** @throws ConflictError `slug`, if an organization has it in any case */
  create(organization: Organization): Promise<void>;
  /**
   * @param role undefined: a member keeps its role, and a new member becomes a `member`
   * @returns the member's role now; null if the organization or the user does not exist
   */
  putMember(slug: string, userId: string, role?: Role): Promise<Role | null>;
  /** Ordered by e-mail address. @returns null if the organization does not exist */
  listMembers(slug: string): Promise<readonly Member[] | null>;
  /** @returns false if there was no such membership */
  removeMember(slug: string, userId: string): Promise<boolean>;
  /** Ordered by slug. */
  membershipsOf(userId: string): Promise<readonly Membership[]>;
}

/** A named page with its filters. */
export interface SavedView {
  /** UUID in lower case, chosen by the client. */
  readonly id: string;
  readonly name: string;
  /** Path of the page relative to the root of the pages, with its query. */
  readonly path: string;
  /** The organization whose members see the view; null: only its creator. */
  readonly org_slug: string | null;
}

/** A view as listed for a user. */
export interface ListedView extends SavedView {
  /** Whether the user may change and remove the view: as its creator, or as an administrator of its organization. */
  readonly may_change: boolean;
}

/** Maximum number of views that a user creates. */
export const VIEWS_OF_A_USER = 100;
/** Maximum number of views that an organization shares. */
export const VIEWS_OF_AN_ORGANIZATION = 200;

/**
 * Result of saving a view. `foreign`: the id belongs to another user's view; `no_organization`: the user is not a member of it.
 */
export type SavedAs = 'saved' | 'foreign' | 'no_organization' | 'full';

/**
 * Saved views of users. A view can be changed and removed by its creator and by administrators of its organization. Changes are durable
 * when they resolve. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Views {
  /** Views that the user created and views of the user's organizations, by name. */
  list(userId: string): Promise<readonly ListedView[]>;
  /** Creates a view, or replaces the one with the same id, which keeps its creator. */
  put(userId: string, view: SavedView): Promise<SavedAs>;
  /** @returns false if there is no view with this id that the user may remove */
  remove(userId: string, id: string): Promise<boolean>;
}

/** How many entries of users are kept; older ones are removed. */
export const MAX_AUDIT_ENTRIES = 10_000;
/**
 * How many entries without a user are kept. The separate limit keeps unauthenticated clients from displacing the other entries.
 */
export const MAX_STRANGER_ENTRIES = 1000;

/** An action that the audit log records. */
export interface AuditEntry {
  readonly at: Micros;
  /** `endpoint.changed` */
  readonly action: string;
  /** Null if the request was not authenticated. */
  readonly user_id: string | null;
  /** Null if authentication is off, or the request was not authenticated. */
  readonly key_id: string | null;
  /** The client's network address; empty for entries that combine several clients. */
  readonly address: string;
  /** JSON: ids and values that the action changed, never secrets. */
  readonly fields: string;
}

/** Absent keys select everything. */
export interface AuditFilter {
  readonly action?: string;
  readonly userId?: string;
  /** At or after. */
  readonly from?: Micros;
  /** Before. */
  readonly to?: Micros;
}

export interface AuditPage {
  /** The newest first. */
  readonly items: readonly AuditEntry[];
  readonly count: number;
}

/**
 * The last {@link MAX_AUDIT_ENTRIES} actions of users and the last {@link MAX_STRANGER_ENTRIES} rejected requests of unauthenticated
 * clients. Changes are durable when they resolve. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface AuditLog {
  append(entries: readonly AuditEntry[]): Promise<void>;
  list(filter: AuditFilter, page: { readonly offset: number; readonly limit: number }): Promise<AuditPage>;
}
