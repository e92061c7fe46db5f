import type { Micros } from '../../signal/time.js';

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
