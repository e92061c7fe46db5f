/**
 * One user's part of shared resources. Limits apply to the user and not to the key, because a user allowed to create keys could create
 * any number.
 */
export interface UserLimits {
  /** The share of requests and bytes in progress that one user may hold: above 0, up to 1 for all of it. */
  readonly share: number;
  /** Bytes that each user without a limit of its own may store; 0 for no limit. */
  readonly storedBytes: number;
  /**
   * Counts a request that begins.
   *
   * @throws HttpProblem 429 `rate_limited` with `Retry-After`, if the user has exceeded a configured limit; the request
   * does not count then
   */
  enter(userId: string): void;
  /** Counts bytes that a user's request has brought, in decompressed form. Later requests pay for them. */
  spend(userId: string, bytes: number): void;
}
