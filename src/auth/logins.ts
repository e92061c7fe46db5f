import { hash, randomBytes } from 'node:crypto';
import type { BrowserLogins, LoginProof, LoginRequest, LoginSite } from '../component/browser-logins.js';
import { HttpProblem } from '../component/http.js';
import type { Identity } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import { TokenBuckets } from '../component/token-buckets.js';
import { groupName } from '../http/connections.js';
import { uuidV7 } from '../signal/ids.js';
import { MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE } from '../signal/time-units.js';
import type { Micros } from '../signal/time.js';
import type { ControlPlane } from '../storage/control-plane.js';
import type { FollowedLogin } from '../storage/logins.js';
import { LastUsed } from './last-used.js';
import { loginCookie, refuseOtherPage, requireOwnPage, secretOf } from './login-cookie.js';
import { LoginRing } from './login-ring.js';
import { StoreFollower } from './store-follower.js';

/** A login that is not used ends after this time, */
const IDLE: Micros = 12 * MICROS_PER_HOUR;
/** and every one after this. */
const LONGEST: Micros = 7 * MICROS_PER_DAY;
const LINK: Micros = 15 * MICROS_PER_MINUTE;
/** The end of a login moves with its use, but not for less than this. */
const STEP: Micros = MICROS_PER_MINUTE;
/** Of each address. */
const TRIES = { perSecond: 10 / 60, burst: 10, maxOwners: 10_000 };
const SECRET_BYTES = 32;

/** Finds keys that can be used now. */
interface UsableKeys {
  /** @returns undefined where it is no key that is accepted; that is logged */
  byText(text: string, request: LoginRequest): Identity | undefined;
  byId(keyId: string): Identity | undefined;
}

export interface LoginParts {
  readonly control: Pick<ControlPlane, 'logins' | 'watch'>;
  readonly keys: UsableKeys;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Logins of browsers: each acts by a key, can do what that can, and ends with it. */
export class Logins implements BrowserLogins {
  readonly #site: LoginSite;
  readonly #parts: LoginParts;
  readonly #ring = new LoginRing();
  readonly #follower: StoreFollower;
  readonly #lastUsed: LastUsed;
  readonly #tries: TokenBuckets;
  #version: string | null = null;

  private constructor(site: LoginSite, parts: LoginParts) {
    const { control, clock } = parts;
    this.#site = site;
    this.#parts = parts;
    this.#tries = new TokenBuckets(TRIES, clock);
    this.#lastUsed = new LastUsed(
      (uses) => control.logins.extend(uses),
      'Could not write that logins of browsers go on; will retry',
      parts,
    );
    const failure =
      'Changes of logins of browsers cannot be read; those that are known remain valid meanwhile';
    const readOn = async (): Promise<boolean> => {
      const { logins, version, hasMore } = await control.logins.follow(this.#version);
      this.#ring.put(logins, clock.now());
      this.#version = version;
      return hasMore;
    };
    this.#follower = new StoreFollower(control.watch, { topic: 'logins', readOn, failure }, parts);
  }

  /** @throws ConsumeError where the store cannot be read */
  static async open(site: LoginSite, parts: LoginParts): Promise<Logins> {
    const logins = new Logins(site, parts);
    await logins.#follower.start();
    return logins;
  }

  /**
   * Who sends a request by its cookie.
   *
   * @returns undefined where it has none that holds
   * @throws HttpProblem 403 `forbidden_origin` where a page of another origin sends it
   */
  identify(request: LoginRequest): Identity | undefined {
    const login = this.#loginOf(request);
    const identity = login && this.#parts.keys.byId(login.key_id);
    if (login === undefined || identity === undefined) return undefined;
    requireOwnPage(request, this.#site);
    const now = this.#parts.clock.now();
    const until = Math.min(now + IDLE, login.created_at + LONGEST);
    if (until >= login.expires_at + STEP) {
      this.#ring.extend(login, until);
      this.#lastUsed.note(login.id, until);
    }
    return identity;
  }

  /** Likewise, without letting the login last any longer. */
  holderOf(request: LoginRequest): Identity | undefined {
    const login = this.#loginOf(request);
    return login && this.#parts.keys.byId(login.key_id);
  }

  async enter(request: LoginRequest, proof: LoginProof): Promise<{ cookie: string; identity: Identity }> {
    const { control, clock } = this.#parts;
    refuseOtherPage(request, this.#site);
    this.#countTry(request);
    const identity =
      'key' in proof ? this.#parts.keys.byText(proof.key, request) : await this.#redeem(proof.token);
    if (identity === undefined || identity.keyId === null)
      throw new HttpProblem(
        401,
        'unauthenticated',
        'key' in proof
          ? 'This is no API key that can be used.'
          : 'This link was used already, or is too old: make a new one with "jackdaw login".',
      );
    const now = clock.now();
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    await control.logins.create({
      id: uuidV7(Math.floor(now / 1000)),
      digest: digestOf(secret),
      user_id: identity.userId,
      key_id: identity.keyId,
      created_at: now,
      expires_at: now + IDLE,
    });
    await this.#follower.settle();
    return { cookie: loginCookie(secret, request, this.#site), identity };
  }

  async leave(request: LoginRequest): Promise<string | null> {
    const login = this.#loginOf(request);
    if (login === undefined) return null;
    await this.#parts.control.logins.end(login.id);
    await this.#follower.settle();
    return loginCookie(null, request, this.#site);
  }

  async createLink(identity: Identity, request: LoginRequest): Promise<{ url: string; expiresAt: Micros }> {
    // The sender of a cookie has no such header, and a header goes first.
    if (request.header('authorization') === undefined)
      throw new HttpProblem(
        403,
        'forbidden_scope',
        'A login makes no links, since it would never end: send an API key.',
      );
    const scheme = this.#site.secure ? 'https' : 'http';
    const base = this.#site.publicUrl ?? new URL(`${scheme}://${request.header('host') ?? 'localhost'}/`);
    return await this.linkAt(base, identity);
  }

  /** @param base address of the pages */
  async linkAt(base: URL, { userId, keyId }: Identity): Promise<{ url: string; expiresAt: Micros }> {
    if (keyId === null) throw new TypeError('a link is made of a key');
    const now = this.#parts.clock.now();
    const token = randomBytes(SECRET_BYTES).toString('base64url');
    const link = { digest: digestOf(token), user_id: userId, key_id: keyId, expires_at: now + LINK };
    await this.#parts.control.logins.createLink(link, now);
    return { url: loginUrl(base, token), expiresAt: link.expires_at };
  }

  /** Writes when logins were last used. May be called twice. */
  async close(): Promise<void> {
    this.#follower.close();
    await this.#lastUsed.close();
  }

  async #redeem(token: string): Promise<Identity | undefined> {
    const link = await this.#parts.control.logins.redeemLink(digestOf(token), this.#parts.clock.now());
    return link === null ? undefined : this.#parts.keys.byId(link.key_id);
  }

  #loginOf(request: LoginRequest): FollowedLogin | undefined {
    const secret = secretOf(request, this.#site);
    return secret === undefined ? undefined : this.#ring.find(digestOf(secret), this.#parts.clock.now());
  }

  /** @throws HttpProblem 429 `rate_limited` */
  #countTry({ remoteAddress }: LoginRequest): void {
    const owner = groupName(remoteAddress);
    const seconds = this.#tries.secondsUntil(owner, 1);
    if (seconds > 0)
      throw new HttpProblem(
        429,
        'rate_limited',
        'Too many tries to log in from this address; wait a little.',
        {
          headers: { 'retry-after': String(Math.ceil(seconds)) },
        },
      );
    this.#tries.take(owner, 1);
  }
}

/** Where a browser enters. @param token null: nothing is asked for. It is a fragment, which reaches no log, proxy or referrer */
export function loginUrl(base: URL, token: string | null): string {
  const folder = base.href.endsWith('/') ? base.href : `${base.href}/`;
  return token === null ? folder : `${folder}login#t=${token}`;
}

function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}
