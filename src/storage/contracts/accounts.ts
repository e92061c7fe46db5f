// Who uses the daemon: users with their keys, browser sessions, organizations, saved views, and the audit log.

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
  /** When it ends unless it is used. */
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

/** Who belongs to an organization. */
export interface Member {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}

/**
 * Organizations and who belongs to them. Changes are durable when they resolve. Users' ids are taken in any case. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Organizations {
  /** The oldest first. */
  list(): Promise<readonly Organization[]>;
  /** @throws ConflictError `slug`, in any case */
  create(organization: Organization): Promise<void>;
  /**
   * @param role undefined: a member keeps its role, and who is new is a `member`
   * @returns the role that the member has now; null where there is no such organization or user
   */
  putMember(slug: string, userId: string, role?: Role): Promise<Role | null>;
  /** In the order of their e-mail addresses. @returns null where there is no such organization */
  listMembers(slug: string): Promise<readonly Member[] | null>;
  /** @returns false where there was no such membership */
  removeMember(slug: string, userId: string): Promise<boolean>;
  /** In the order of the slugs. */
  membershipsOf(userId: string): Promise<readonly Membership[]>;
}

/** A page with its filters, under a name. */
export interface SavedView {
  /** UUID in lower case, which its maker chooses. */
  readonly id: string;
  readonly name: string;
  /** Of the page, below where the pages lie, with its query. */
  readonly path: string;
  /** The organization whose members see it; null: its maker alone. */
  readonly org_slug: string | null;
}

/** A view as a user finds it. */
export interface ListedView extends SavedView {
  /** Whether the user made it, or administers its organization: then it may be changed and removed. */
  readonly may_change: boolean;
}

/** At most so many views a user has made at a time, */
export const VIEWS_OF_A_USER = 100;
/** and an organization sees. */
export const VIEWS_OF_AN_ORGANIZATION = 200;

/** What came of saving a view. `foreign`: the id is of somebody else's; `no_organization`: there is none of which the user is a member. */
export type SavedAs = 'saved' | 'foreign' | 'no_organization' | 'full';

/**
 * Views that users saved. A view is changed and removed by its maker, and by administrators of its organization. Changes are durable when
 * they resolve. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Views {
  /** Those that the user made, and those of the user's organizations, by name. */
  list(userId: string): Promise<readonly ListedView[]>;
  /** Makes a view, or takes the place of the one with its id, which keeps its maker. */
  put(userId: string, view: SavedView): Promise<SavedAs>;
  /** @returns false where the user may remove none with this id */
  remove(userId: string, id: string): Promise<boolean>;
}

/** The newest entries of users that are stored; older ones are removed. */
export const MAX_AUDIT_ENTRIES = 10_000;
/** The newest entries without a user that are stored. They have a limit of their own, so that strangers cannot push out the others. */
export const MAX_STRANGER_ENTRIES = 1000;

/** An action that the audit log records. */
export interface AuditEntry {
  readonly at: Micros;
  /** `endpoint.changed` */
  readonly action: string;
  /** Null if nobody was authenticated. */
  readonly user_id: string | null;
  /** Null if authentication is off, or nobody was authenticated. */
  readonly key_id: string | null;
  /** The client's network address; empty for entries that count several clients. */
  readonly address: string;
  /** JSON: ids and values that the action changed, never a secret. */
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
 * The last {@link MAX_AUDIT_ENTRIES} actions of users and the last {@link MAX_STRANGER_ENTRIES} refusals of strangers. Changes are durable when they resolve. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface AuditLog {
  append(entries: readonly AuditEntry[]): Promise<void>;
  list(filter: AuditFilter, page: { readonly offset: number; readonly limit: number }): Promise<AuditPage>;
}
