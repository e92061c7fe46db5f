import type { Micros } from '../signal/time.js';
import { LOGIN_IDLE, LOGIN_LONGEST, type FollowedLogin } from '../storage/logins.js';

/** From so many on, those that expired are looked for from time to time. */
const MIN_SWEEP = 1024;

/** All logins in memory, as they were put last. */
export class LoginRing {
  readonly #byDigest = new Map<string, FollowedLogin>();
  #sweepAt = MIN_SWEEP;

  put(logins: readonly FollowedLogin[], now: Micros): void {
    for (const login of logins) {
      const { digest, has_ended, last_seen_at } = login;
      const known = this.#byDigest.get(digest);
      if (has_ended) this.#byDigest.delete(digest);
      // A use that is not written yet lets it last longer than the store knows.
      else if (known === undefined || known.last_seen_at < last_seen_at) this.#byDigest.set(digest, login);
    }
    if (this.#byDigest.size < this.#sweepAt) return;
    for (const [digest, { expires_at }] of this.#byDigest)
      if (expires_at <= now) this.#byDigest.delete(digest);
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#byDigest.size);
  }

  /** @param digest SHA-256 of a secret in hex, which nobody can choose: looking it up tells nothing of others */
  find(digest: string, now: Micros): FollowedLogin | undefined {
    const login = this.#byDigest.get(digest);
    return login !== undefined && login.expires_at > now ? login : undefined;
  }

  /** Notes the use of a login, which lets it last longer. @returns the login as it is now */
  use(login: FollowedLogin, now: Micros): FollowedLogin {
    const expires_at = Math.min(now + LOGIN_IDLE, login.created_at + LOGIN_LONGEST);
    const used = { ...login, expires_at, last_seen_at: now };
    this.#byDigest.set(login.digest, used);
    return used;
  }
}
