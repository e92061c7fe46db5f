/**
 * What one user may have of what all share. Limits apply to the user and not to the key, because whoever may make keys could make
 * as many as wanted.
 */
export interface UserLimits {
  /** The share of requests and bytes in progress that one user may hold: above 0, up to 1 for all of it. */
  readonly share: number;
  /** Bytes that each user may store who has no limit of its own; 0 for any number. */
  readonly storedBytes: number;
  /**
   * Counts a request that begins.
   *
   * @throws HttpProblem 429 `rate_limited` with `Retry-After`, where the user has sent more than is configured; the request
   * does not count then
   */
  enter(userId: string): void;
  /** Counts bytes that a user's request has brought, in decompressed form. Later requests pay for them. */
  spend(userId: string, bytes: number): void;
}
