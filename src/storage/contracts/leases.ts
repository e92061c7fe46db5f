/** Somebody's right to do a piece of work alone, for a time. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Grows each time the name is taken. What the work changes is fenced by it: a holder that was too slow changes nothing. */
  readonly token: number;
}

/**
 * Who does what only one may do at a time. A lease that is not renewed ends by itself, and the next who asks gets it. Every
 * method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Leases {
  /**
   * @param owner names the process, unlike any other that is or was; taking what it already holds gives a new token
   * @param ms how long it holds, in milliseconds
   * @returns null while somebody else has it
   */
  take(name: string, owner: string, ms: number): Promise<Lease | null>;
  /** Holds it for so many milliseconds from now. @returns false where somebody took it meanwhile, or it was given back */
  renew(lease: Lease, ms: number): Promise<boolean>;
  /** Gives it back, so that others need not wait for its end. Does nothing where somebody took it meanwhile. */
  release(lease: Lease): Promise<void>;
}
