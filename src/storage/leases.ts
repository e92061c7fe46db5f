/** That somebody alone does a piece of work, for a time. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Grows with every taking of the name. What the work changes is fenced by it: a holder that was too slow changes nothing. */
  readonly token: number;
}

/**
 * Who does what only one may do at a time. A lease that is not renewed ends by itself, and the next who asks has it. Every method may
 * throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Leases {
  /**
   * @param owner names the process, as no other that is or was; who takes again what it holds gets a new token
   * @param ms how long it holds, in milliseconds
   * @returns null while somebody else has it
   */
  take(name: string, owner: string, ms: number): Promise<Lease | null>;
  /** Holds it for so many milliseconds from now. @returns false where somebody took it since, or it was given back */
  renew(lease: Lease, ms: number): Promise<boolean>;
  /** Gives it back, so that others need not wait for its end. One that somebody took since stays as it is. */
  release(lease: Lease): Promise<void>;
}
