/**
 * What one user may have of what all share. It is the user whom limits are for, and not the key: whoever may make keys could
 * make as many as wanted.
 */
export interface UserLimits {
  /** The part of requests and bytes under way that one user may hold: above 0, up to 1 for all of it. */
  readonly share: number;
  /**
   * Counts a request that begins.
   *
   * @throws HttpProblem 429 `rate_limited` with `Retry-After`, where the user has sent more than is configured; the request
   * does not count then
   */
  enter(userId: string): void;
  /** Counts bytes that a user's request has brought, as they are when inflated. They are paid for by later requests. */
  spend(userId: string, bytes: number): void;
}
