/**
 * Permissions of a key. `admin` implies the others. `delegate`: to send data of other users, where a receiver allows it. `feedback`: to send
 * scores; `write` implies it.
 */
export const SCOPES = ['write', 'read', 'manage', 'delegate', 'feedback', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** The user behind a request. */
export interface Identity {
  /** UUID, lower case: the tenant of the data that the request writes or reads. */
  readonly userId: string;
  /** UUID of the key; null when authentication is off. */
  readonly keyId: string | null;
  readonly scopes: readonly Scope[];
  /** The browser session of the request; absent if it carries a key. */
  readonly session?: {
    readonly id: string;
    /** When it ends unless it is used, in microseconds. */
    readonly expiresAt: number;
  };
}
