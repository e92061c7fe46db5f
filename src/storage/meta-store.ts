import type { Micros } from '../signal/time.js';
import type { RevokedKey, StoredKey, User, UserChange } from './accounts.js';
import type { Member, Membership, Organization, Role } from './organizations.js';
import type { PromptVersion } from './prompts.js';
import type { EndpointStore } from './webhook-endpoints.js';

export { ConflictError } from './conflict-error.js';
export type { ApiKey, RevokedKey, StoredKey, User, UserChange } from './accounts.js';
export { ROLES, type Member, type Membership, type Organization, type Role } from './organizations.js';
export type { PromptVersion } from './prompts.js';

/** A list of prompts, some at a time: all of them may be many megabytes. */
export type PromptPages = AsyncIterable<readonly PromptVersion[]>;

/** What happened to the keys, or to all of a user. */
export type KeyChange =
  | { readonly kind: 'created'; readonly key: StoredKey }
  | { readonly kind: 'revoked'; readonly id: string; readonly at: Micros }
  | { readonly kind: 'user'; readonly userId: string; readonly isDisabled: boolean };

/**
 * The small transactional tables. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable);
 * changes are durable when they resolve.
 */
export interface MetaStore extends EndpointStore {
  listUsers(): Promise<readonly User[]>;
  /** @throws ConflictError `email` */
  createUser(user: User): Promise<void>;
  /**
   * @returns the user as it is now; null where there is none; `last_admin` where it was to be disabled and has the last
   * admin keys without an end, and nothing was changed
   * @throws ConflictError `email`
   */
  updateUser(id: string, change: UserChange): Promise<User | 'last_admin' | null>;
  /** Every key, revoked ones included. */
  listKeys(): Promise<readonly StoredKey[]>;
  createKey(key: StoredKey): Promise<void>;
  /** A key revoked before keeps its first time. The last admin key without an end, of a user that is not disabled, stays. */
  revokeKey(id: string, at: Micros): Promise<RevokedKey>;
  /**
   * Tells of every key that is created or revoked, `bootstrap` included, and of users that are disabled or enabled: after the commit and before the change's
   * promise resolves, so that what checks requests knows a new key as soon as its owner does.
   *
   * @returns a function that ends it.
   */
  watchKeys(listener: (change: KeyChange) => void): () => void;
  touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void>;
  listOrganizations(): Promise<readonly Organization[]>;
  /** @throws ConflictError `slug` */
  createOrganization(organization: Organization): Promise<void>;
  /**
   * @param role undefined: a member keeps its role, and who is new is a `member`
   * @returns the role that the member has now; null where there is no such organization or user.
   */
  putMember(slug: string, userId: string, role?: Role): Promise<Role | null>;
  /** In the order of their e-mail addresses. @returns null where there is no such organization. */
  listMembers(slug: string): Promise<readonly Member[] | null>;
  /** @returns false where there was no such membership. */
  removeMember(slug: string, userId: string): Promise<boolean>;
  membershipsOf(userId: string): Promise<readonly Membership[]>;
  /** First user, organization, membership and key in one transaction. @returns false, and nothing done, if there is a user. */
  bootstrap(first: {
    readonly user: User;
    readonly organization: Organization;
    readonly key: StoredKey;
  }): Promise<boolean>;
  /** @throws ConflictError `version` where the user has that version of the prompt */
  createPrompt(userId: string, prompt: PromptVersion): Promise<void>;
  /** All versions of all prompts of a user: by name in the order of its characters, then the newest version first. */
  listPrompts(userId: string): Promise<PromptPages>;
  /** The newest first. @returns null where the user has no prompt of that name */
  listPromptVersions(userId: string, name: string): Promise<PromptPages | null>;
  /** The directory for files beside the store, such as the initial key. */
  readonly directory: string;
}

/** Finds a meta store among extensions. */
export function isMetaStore(candidate: unknown): candidate is MetaStore {
  return (
    typeof candidate === 'object' && candidate !== null && 'bootstrap' in candidate && 'listKeys' in candidate
  );
}
