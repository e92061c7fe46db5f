import type { Micros } from '../../signal/time.js';

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
