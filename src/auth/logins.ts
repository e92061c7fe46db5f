import { isFeedbackOnly, lacksScope } from './scopes.js';
import { hash, randomBytes } from 'node:crypto';
import type {
  BrowserLogins,
  BrowserSession,
  LoginProof,
  LoginRequest,
  LoginSite,
} from '../component/browser-logins.js';
import { HttpProblem } from '../component/http.js';
import type { Identity } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import { TokenBuckets } from '../component/token-buckets.js';
import { groupName } from '../http/connections.js';
import { uuidV7 } from '../signal/ids.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';
import type { Micros } from '../signal/time.js';
import type { ControlStore } from '../storage/contracts/control-store.js';
import { type FollowedLogin, LOGIN_IDLE, LOGIN_LONGEST } from '../storage/contracts/accounts.js';
import { LastUsed } from './last-used.js';
import { loginCookie, refuseOtherPage, requireOwnPage, secretOf } from './login-cookie.js';
import { StoreFollower } from './store-follower.js';

/** From this number of logins on, expired ones are removed from memory. */
const MIN_SWEEP = 1024;

/** All logins in memory, with their latest state. */
class LoginRing {
  readonly #byDigest = new Map<string, FollowedLogin>();
  #sweepAt = MIN_SWEEP;

  put(logins: readonly FollowedLogin[], now: Micros): void {
    for (const login of logins) {
      const { digest, has_ended, last_seen_at } = login;
      const known = this.#byDigest.get(digest);
      if (has_ended) this.#byDigest.delete(digest);
      // A use that is not written yet extends the login further than the store shows.
      else if (known === undefined || known.last_seen_at < last_seen_at) this.#byDigest.set(digest, login);
    }
    if (this.#byDigest.size < this.#sweepAt) return;
    for (const [digest, { expires_at }] of this.#byDigest)
      if (expires_at <= now) this.#byDigest.delete(digest);
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#byDigest.size);
  }

  /** @param digest SHA-256 of a secret in hex. Clients cannot choose it, so look-up times reveal nothing about other logins */
  find(digest: string, now: Micros): FollowedLogin | undefined {
    const login = this.#byDigest.get(digest);
    return login !== undefined && login.expires_at > now ? login : undefined;
  }

  /**
   * Records the use of a login, which extends it.
   *
   * @returns the updated login
   */
  use(login: FollowedLogin, now: Micros): FollowedLogin {
    const expires_at = Math.min(now + LOGIN_IDLE, login.created_at + LOGIN_LONGEST);
    const used = { ...login, expires_at, last_seen_at: now };
    this.#byDigest.set(login.digest, used);
    return used;
  }
}

const LINK: Micros = 15 * MICROS_PER_MINUTE;
/** Minimum interval between recorded uses of a login. */
const STEP: Micros = MICROS_PER_MINUTE;
/**
 * Failures for each address that get 401; more get 429. Valid credentials are never refused: keys and tokens of 256 bits cannot
 * be guessed, and otherwise one client could lock out all others behind the same address.
 */
const FAILURES = { perSecond: 10 / 60, burst: 10, maxOwners: 10_000 };
const SECRET_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;
const MAX_USER_AGENT = 300;

/** Finds keys that can be used now. */
interface UsableKeys {
  /** @returns undefined if the key is not accepted, which is logged */
  byText(text: string, request: LoginRequest): Identity | undefined;
  byId(keyId: string): Identity | undefined;
}

export interface LoginParts {
  readonly control: Pick<ControlStore, 'accounts' | 'logins' | 'watch'>;
  readonly keys: UsableKeys;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Browser logins. Each acts with the permissions of a key and ends with that key. */
export class Logins implements BrowserLogins {
  readonly #site: LoginSite;
  readonly #parts: LoginParts;
  readonly #ring = new LoginRing();
  readonly #follower: StoreFollower;
  readonly #lastUsed: LastUsed;
  readonly #failures: TokenBuckets;
  #version: string | null = null;

  private constructor(site: LoginSite, parts: LoginParts) {
    const { control, clock } = parts;
    this.#site = site;
    this.#parts = parts;
    this.#failures = new TokenBuckets(FAILURES, clock);
    this.#lastUsed = new LastUsed(
      (uses) => control.logins.extend(uses),
      'Could not extend browser sessions; retrying',
      parts,
    );
    const failure = 'Cannot read changes of browser sessions; known sessions remain valid';
    const readOn = async (): Promise<boolean> => {
      const { logins, version, hasMore } = await control.logins.follow(this.#version);
      this.#ring.put(logins, clock.now());
      this.#version = version;
      return hasMore;
    };
    this.#follower = new StoreFollower(control.watch, { topic: 'logins', readOn, failure }, parts);
  }

  /** @throws ConsumeError if the store cannot be read */
  static async open(site: LoginSite, parts: LoginParts): Promise<Logins> {
    const logins = new Logins(site, parts);
    await logins.#follower.start();
    return logins;
  }

  /**
   * Identifies the sender of a request by its cookie.
   *
   * @returns undefined without a valid login
   * @throws HttpProblem 403 `forbidden_origin` if a page of another origin sends the request
   */
  identify(request: LoginRequest): Identity | undefined {
    let login = this.#loginOf(request);
    const identity = login && this.#parts.keys.byId(login.key_id);
    if (login === undefined || identity === undefined) return undefined;
    requireOwnPage(request, this.#site);
    const now = this.#parts.clock.now();
    if (now >= login.last_seen_at + STEP) {
      login = this.#ring.use(login, now);
      this.#lastUsed.note(login.id, now);
    }
    return { ...identity, session: { id: login.id, expiresAt: login.expires_at } };
  }

  /** Like {@link identify}, without extending the login. */
  holderOf(request: LoginRequest): Identity | undefined {
    const login = this.#loginOf(request);
    return login && this.#parts.keys.byId(login.key_id);
  }

  async enter(request: LoginRequest, proof: LoginProof): Promise<{ cookie: string; identity: Identity }> {
    const { control, clock, keys } = this.#parts;
    refuseOtherPage(request, this.#site);
    const identity = 'key' in proof ? keys.byText(proof.key, request) : await this.#redeem(proof.token);
    if (identity === undefined || identity.keyId === null) throw this.#failed(request, proof);
    // Anyone may have such a key, and a user has a limited number of sessions.
    if (isFeedbackOnly(identity.scopes)) throw lacksScope('read');
    const now = clock.now();
    const earlier = this.#loginOf(request);
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    await control.logins.create({
      id: uuidV7(Math.floor(now / 1000)),
      digest: digestOf(secret),
      user_id: identity.userId,
      key_id: identity.keyId,
      created_at: now,
      expires_at: now + LOGIN_IDLE,
      last_seen_at: now,
      address: request.remoteAddress,
      user_agent: request.header('user-agent')?.slice(0, MAX_USER_AGENT) ?? null,
    });
    if (earlier !== undefined) await control.logins.end([earlier.id]);
    await this.#follower.refresh();
    return { cookie: loginCookie(secret, request, this.#site), identity };
  }

  async readLink(
    request: LoginRequest,
    token: string,
  ): Promise<{ name: string; email: string; expiresAt: Micros }> {
    const { control, clock, keys } = this.#parts;
    refuseOtherPage(request, this.#site);
    const link = TOKEN.test(token) ? await control.logins.findLink(digestOf(token), clock.now()) : null;
    const user = link && keys.byId(link.key_id) ? await control.accounts.findUser(link.user_id) : null;
    if (link === null || user === null) throw this.#failed(request, { token });
    return { name: user.name, email: user.email, expiresAt: link.expires_at };
  }

  async leave(request: LoginRequest): Promise<string | null> {
    const login = this.#loginOf(request);
    if (login === undefined) return null;
    await this.end([login.id]);
    return loginCookie(null, request, this.#site);
  }

  async createLink(identity: Identity, request: LoginRequest): Promise<{ url: string; expiresAt: Micros }> {
    if (identity.session !== undefined)
      throw new HttpProblem(
        403,
        'forbidden_scope',
        'A browser session cannot create login links: send an API key.',
      );
    const scheme = this.#site.secure ? 'https' : 'http';
    const base = this.#site.publicUrl ?? new URL(`${scheme}://${request.header('host') ?? 'localhost'}/`);
    return await this.linkAt(base, identity);
  }

  /** @param base address of the pages */
  async linkAt(base: URL, { userId, keyId }: Identity): Promise<{ url: string; expiresAt: Micros }> {
    if (keyId === null) throw new TypeError('a login link needs a key');
    const now = this.#parts.clock.now();
    const token = randomBytes(SECRET_BYTES).toString('base64url');
    const link = { digest: digestOf(token), user_id: userId, key_id: keyId, expires_at: now + LINK };
    await this.#parts.control.logins.createLink(link, now);
    return { url: loginUrl(base, token), expiresAt: link.expires_at };
  }

  async sessionsOf(userId: string): Promise<readonly BrowserSession[]> {
    const { control, clock, keys } = this.#parts;
    const logins = await control.logins.list(userId, clock.now());
    return logins.flatMap((login) => {
      const key = keys.byId(login.key_id);
      if (key === undefined) return [];
      return {
        id: login.id,
        keyId: login.key_id,
        scopes: key.scopes,
        createdAt: login.created_at,
        lastSeenAt: login.last_seen_at,
        expiresAt: login.expires_at,
        address: login.address,
        userAgent: login.user_agent,
      };
    });
  }

  async end(ids: readonly string[]): Promise<void> {
    await this.#parts.control.logins.end(ids);
    await this.#follower.refresh();
  }

  /** Writes last-used times of logins. May be called twice. */
  async close(): Promise<void> {
    this.#follower.close();
    await this.#lastUsed.close();
  }

  async #redeem(token: string): Promise<Identity | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const link = await this.#parts.control.logins.redeemLink(digestOf(token), this.#parts.clock.now());
    return link === null ? undefined : this.#parts.keys.byId(link.key_id);
  }

  #loginOf(request: LoginRequest): FollowedLogin | undefined {
    const secret = secretOf(request, this.#site);
    return secret === undefined ? undefined : this.#ring.find(digestOf(secret), this.#parts.clock.now());
  }

  /** Creates the error for a failed login, which counts for its address. */
  #failed(request: LoginRequest, proof: LoginProof): HttpProblem {
    const owner = groupName(request.remoteAddress);
    const seconds = this.#failures.secondsUntil(owner, 1);
    if (seconds > 0)
      return new HttpProblem(
        429,
        'rate_limited',
        'Too many invalid keys or links from this address: check your key, then try again later.',
        { headers: { 'retry-after': String(Math.ceil(seconds)) } },
      );
    this.#failures.take(owner, 1);
    return new HttpProblem(
      401,
      'unauthenticated',
      'key' in proof
        ? 'This API key is not valid.'
        : 'This link was already used or has expired: create a new one with "jackdaw login".',
    );
  }
}

/**
 * The login URL of a browser.
 *
 * @param token null if authentication is off. It is in the fragment, so that it reaches no log, proxy or referrer
 */
export function loginUrl(base: URL, token: string | null): string {
  const folder = base.href.endsWith('/') ? base.href : `${base.href}/`;
  return token === null ? folder : `${folder}login#t=${token}`;
}

function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}
