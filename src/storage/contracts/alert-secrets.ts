import type { Micros } from '../../signal/time.js';

/** The secret that signs the alert webhooks of a user, as a `SecretBox` sealed it for {@link alertSecretOwner}. */
export interface StoredAlertSecret {
  readonly sealed_secret: string;
  readonly created_at: Micros;
}

/** The owner that the secret of a user is sealed for. */
export function alertSecretOwner(userId: string): string {
  return `alert_secret:${userId}`;
}

/**
 * Secrets that sign alert webhooks, at most one per user. Changes are durable when they resolve. Every method may throw a
 * `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface AlertSecrets {
  /** @returns null if the user has no secret yet */
  find(userId: string): Promise<StoredAlertSecret | null>;
  /** Stores a secret unless the user has one. @returns the stored one */
  keep(userId: string, secret: StoredAlertSecret): Promise<StoredAlertSecret>;
  /** Replaces the secret of the user; the former one signs nothing from then on. */
  rotate(userId: string, secret: StoredAlertSecret): Promise<void>;
}
