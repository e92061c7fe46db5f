import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserLogins, LoginRequest, LoginSite } from '../component/browser-logins.js';
import type { Caller } from '../component/host.js';
import { HttpProblem } from '../component/http.js';
import { SCOPES, type Identity, type Scope } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import type { AuthConfig } from '../config/file-schema.js';
import { uuidV7 } from '../signal/ids.js';
import type { KeysVersion, StoredUser } from '../storage/contracts/accounts.js';
import { isControlStore, type ControlStore } from '../storage/contracts/control-store.js';
import { bootstrap, INITIAL_KEY_FILE } from './bootstrap.js';
import { KeyRing, type RingEntry } from './key-ring.js';
import { LastUsed } from './last-used.js';
import { Logins, loginUrl } from './logins.js';
import { isKey } from './keys.js';
import { grants, isFeedbackOnly, lacksScope } from './scopes.js';
import { StoreFollower } from './store-follower.js';
import { BoundedLines } from '../telemetry/bounded-lines.js';

const LINES_A_MINUTE = 20;

interface Refusal {
  readonly reason: 'malformed' | 'unknown' | 'expired' | 'user_disabled' | 'lacks_scope';
  /**
   * Absent if no usable key matches; ended keys are not in memory. The sent text is never logged: it may be a key with a typo.
   */
  readonly keyId?: string;
  readonly scope?: Scope;
}

/** Writes a limited number of audit lines for refused keys. */
class Refusals {
  readonly #logger: Logger;
  readonly #lines: BoundedLines;

  constructor(clock: Clock, logger: Logger) {
    this.#logger = logger;
    this.#lines = new BoundedLines(clock, LINES_A_MINUTE, (count) => {
      logger.info({ audit: 'key.refused', count }, 'Audit: further keys were refused; not all are logged');
    });
  }

  /** @param address of the client; undefined if unknown */
  note({ reason, keyId, scope }: Refusal, address: string | undefined): void {
    this.#lines.write(() => {
      const fields = { audit: 'key.refused', reason, key_id: keyId ?? null, address: address ?? null };
      this.#logger.info({ ...fields, ...(scope !== undefined && { scope }) }, 'Audit: a key was refused');
    });
  }

  /** Logs how many were left out so far. */
  close(): void {
    this.#lines.close();
  }
}

/**
 * The identity of every request if authentication is off and no extension stores users, as in a daemon that only forwards data.
 */
const NOBODY: Identity = {
  userId: '00000000-0000-0000-0000-000000000000',
  keyId: null,
  scopes: SCOPES,
};

type Control = Pick<ControlStore, 'accounts' | 'logins' | 'watch' | 'directory'>;

/** Authenticates requests with the first extension that stores users and keys. All keys are in memory. */
export class Authenticator {
  readonly #config: AuthConfig;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #refusals: Refusals;
  readonly #ring = new KeyRing();
  /** Identities of authenticated requests: both the listener and the route authenticate a request. */
  readonly #known = new WeakMap<Caller, Identity>();
  #control: Control | undefined;
  #follower: StoreFollower | undefined;
  #lastUsed: LastUsed | undefined;
  #site: LoginSite | undefined;
  #logins: Logins | undefined;
  /** The identity of every request with `auth.enabled: false`: the first user that is not disabled. */
  #first: StoredUser | undefined;
  #initialKeyFile: string | null = null;

  constructor(config: AuthConfig, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#config = config;
    this.#clock = clock;
    this.#logger = logger;
    this.#refusals = new Refusals(clock, logger);
  }

  /** Whether requests can be authenticated. */
  get isOpen(): boolean {
    return this.#control !== undefined || !this.#config.enabled;
  }

  /** The file with the first key, if it still exists. */
  get initialKeyFile(): string | null {
    return this.#initialKeyFile;
  }

  /**
   * Call it with each started extension; the first control store is used.
   *
   * @throws like {@link open}
   */
  async offer(candidate: unknown): Promise<void> {
    if (this.#control === undefined && isControlStore(candidate)) await this.open(candidate);
  }

  /**
   * Reads all keys into memory. A store without users rejects every request until {@link bootstrap}.
   *
   * @throws Error if the store cannot be read.
   */
  async open(control: Control): Promise<void> {
    const tools = { clock: this.#clock, logger: this.#logger };
    if (this.#config.enabled) {
      let version: KeysVersion | null = null;
      const readOn = async (): Promise<boolean> => {
        const changes = await control.accounts.followKeys(version);
        this.#ring.put(changes.keys, this.#clock.now());
        version = changes.version;
        return changes.hasMore;
      };
      const failure = 'Cannot read changes of API keys; known keys remain valid';
      this.#follower = new StoreFollower(control.watch, { topic: 'keys', readOn, failure }, tools);
      await this.#follower.start();
      this.#lastUsed = new LastUsed(
        (uses) => control.accounts.touchKeys(uses),
        'Could not store when keys were last used; retrying',
        tools,
      );
    } else await this.#findFirst(control);
    this.#control = control;
  }

  /**
   * Creates the first user and key if none exists. Call it after everything has started.
   *
   * @throws Error
   */
  async bootstrap(): Promise<void> {
    const control = this.#control;
    if (control === undefined) return;
    await bootstrap({ control, config: this.#config, clock: this.#clock, logger: this.#logger });
    await this.refresh();
    if (control.directory === null) return;
    const file = join(control.directory, INITIAL_KEY_FILE);
    if (this.#config.enabled && existsSync(file)) this.#initialKeyFile = file;
  }

  /**
   * Authenticates a request by its `Authorization: Bearer` header, otherwise by the browser's cookie. Bound, so that hosts can
   * expose it.
   *
   * @param needed what the request needs; `any`: a key that may do more than send scores; absent: a valid key
   * @throws HttpProblem 401 `unauthenticated`, the same for every reason; 403 `forbidden_scope`, `forbidden_origin`; 503 before
   *   users and keys are loaded; errors of the request's `identified`
   */
  readonly authenticate = (request: Caller, needed?: Scope | 'any'): Identity => {
    const known = this.#known.get(request);
    const identity = known ?? this.#identify(request);
    const scope = needed === 'any' ? (isFeedbackOnly(identity.scopes) ? 'read' : undefined) : needed;
    if (scope !== undefined && !grants(identity.scopes, scope)) {
      const { keyId } = identity;
      const refusal: Refusal = { reason: 'lacks_scope', ...(keyId !== null && { keyId }), scope };
      this.#refusals.note(refusal, request.remoteAddress);
      throw lacksScope(scope);
    }
    if (known === undefined) {
      request.identified?.(identity);
      this.#known.set(request, identity);
    }
    return identity;
  };

  /**
   * Like {@link authenticate}, but uses the current keys and does not count as a use.
   *
   * @returns undefined if the request is not authenticated
   */
  readonly identityNow = (request: Caller): Identity | undefined => {
    if (!this.#config.enabled) return this.#everybody();
    const header = request.header('authorization');
    if (header === undefined) return isHttp(request) ? this.#logins?.holderOf(request) : undefined;
    const token = bearerToken(header);
    const entry = token === undefined ? undefined : this.#ring.find(token);
    return refusalOf(token, entry, this.#clock.now()) ? undefined : entry?.identity;
  };

  /**
   * Resolves when {@link authenticate} uses all keys and users stored before the call. If the store cannot be read, it resolves
   * immediately; changes are then applied as soon as the store can be read.
   */
  async refresh(): Promise<void> {
    if (this.#config.enabled) await this.#follower?.refresh();
    else if (this.#control !== undefined) await this.#findFirst(this.#control);
  }

  /**
   * Enables browser logins.
   *
   * @throws Error if they are enabled already, or no extension stores users; ConsumeError if the store cannot be read
   */
  async letIn(site: LoginSite): Promise<BrowserLogins> {
    if (this.#site)
      throw new Error('Another extension already handles browser logins: remove one from service.extensions');
    const control = this.#control;
    if (control === undefined)
      throw new Error('There is no control store: add one (sqlite, postgres) to service.extensions');
    this.#site = site;
    if (!this.#config.enabled) return this.#openLogins(site);
    const keys = {
      byText: this.#identityOf.bind(this),
      byId: (keyId: string) => {
        const entry = this.#ring.byId(keyId);
        return entry && !refusalOf(undefined, entry, this.#clock.now()) ? entry.identity : undefined;
      },
    };
    const tools = { control, keys, clock: this.#clock, logger: this.#logger };
    return (this.#logins = await Logins.open(site, tools));
  }

  /**
   * A one-time login link with the first key.
   *
   * @param address of the pages, `http://127.0.0.1:4319`
   * @returns null if the key is no longer in its file or not accepted, or browser logins are disabled
   */
  async loginLink(address: string): Promise<string | null> {
    if (this.#site === undefined) return null;
    const file = this.#initialKeyFile;
    const key = this.#config.enabled && file !== null ? await readFile(file, 'utf8').catch(() => '') : '';
    return await this.linkFor(key.trim(), this.#site.publicUrl ?? new URL(address));
  }

  /**
   * A one-time login link for the text of a key in the store.
   *
   * @param base address of the pages
   * @returns null if the key is not accepted, or browser logins are disabled
   */
  async linkFor(key: string, base: URL): Promise<string | null> {
    if (!this.#config.enabled) return loginUrl(base, null);
    const identity = this.#ring.find(key) && this.#identityOf(key, {});
    return identity && this.#logins ? (await this.#logins.linkAt(base, identity)).url : null;
  }

  /**
   * The id of the user who owns the daemon's own telemetry, created if missing. Without authentication, data of others could not be
   * read: then it is the user of every request.
   *
   * @throws ConsumeError if users cannot be read
   */
  async ownUser(email: string): Promise<string> {
    const control = this.#control;
    if (!this.#config.enabled || control === undefined) return this.#everybody().userId;
    const find = async (): Promise<string | undefined> =>
      (await control.accounts.listUsers()).find((user) => user.email.toLowerCase() === email.toLowerCase())
        ?.id;
    const found = await find();
    if (found !== undefined) return found;
    const at = this.#clock.now();
    const id = uuidV7(Math.floor(at / 1000));
    const limits = { monthly_event_limit: null, stored_bytes_limit: null };
    const [name = email] = email.split('@');
    try {
      await control.accounts.createUser({ id, email, name, ...limits, disabled: false, created_at: at });
    } catch (error) {
      // Another daemon with the same store may have been faster.
      const other = await find();
      if (other === undefined) throw error;
      return other;
    }
    this.#logger.info({ user: email }, 'Created the user of the daemon’s own telemetry');
    return id;
  }

  /** Writes last-used times. Call it while the store still runs. May be called twice. */
  async close(): Promise<void> {
    this.#follower?.close();
    this.#refusals.close();
    await this.#logins?.close();
    await this.#lastUsed?.close();
  }

  #identify(request: Caller): Identity {
    if (!this.#config.enabled) return this.#everybody();
    if (this.#control === undefined) throw notYet('API keys cannot be checked yet.');
    const header = request.header('authorization');
    // A request without credentials is not audited: every page opened by hand sends one.
    const identity =
      header === undefined
        ? isHttp(request) && this.#logins?.identify(request)
        : this.#identityOf(bearerToken(header), request);
    if (!identity) throw unauthenticated();
    if (identity.keyId !== null) this.#lastUsed?.note(identity.keyId, this.#clock.now());
    return identity;
  }

  /** @returns undefined if the key is not accepted, which is logged */
  #identityOf(
    token: string | undefined,
    { remoteAddress }: Pick<Caller, 'remoteAddress'>,
  ): Identity | undefined {
    const entry = token === undefined ? undefined : this.#ring.find(token);
    const refusal = refusalOf(token, entry, this.#clock.now());
    if (refusal) this.#refusals.note(refusal, remoteAddress);
    return refusal ? undefined : entry?.identity;
  }

  #everybody(): Identity {
    if (this.#control === undefined) return NOBODY;
    return { userId: this.#firstNow().id, keyId: null, scopes: SCOPES };
  }

  #firstNow(): StoredUser {
    if (this.#first !== undefined) return this.#first;
    throw notYet('The store has no users yet.');
  }

  /** A new store has no user until {@link bootstrap}. */
  async #findFirst(control: Control): Promise<void> {
    if (this.#first !== undefined) return;
    const users = await control.accounts.listUsers();
    this.#first = users.find(({ disabled }) => !disabled);
    if (this.#first !== undefined)
      this.#logger.warn(
        { user: this.#first.name },
        'Authentication is off: every request acts as the first user, with all scopes',
      );
    else if (users.length > 0)
      throw new Error('Authentication is off, but the store has no user to act for that is not disabled');
  }

  /** Without authentication, every browser is logged in, and no login is stored. */
  #openLogins({ publicUrl, secure }: LoginSite): BrowserLogins {
    return {
      enter: async () => ({ cookie: null, identity: this.#everybody() }),
      leave: async () => null,
      readLink: async () => {
        const { name, email } = this.#firstNow();
        return { name, email, expiresAt: this.#clock.now() };
      },
      createLink: async (_, request) => {
        const base =
          publicUrl ?? new URL(`${secure ? 'https' : 'http'}://${request.header('host') ?? 'localhost'}/`);
        return { url: loginUrl(base, null), expiresAt: this.#clock.now() };
      },
      sessionsOf: async () => [],
      end: async () => undefined,
    };
  }
}

/** Spaces may be `%20`: some clients send the value of `OTEL_EXPORTER_OTLP_HEADERS` without decoding it. */
function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer(?: |%20)+(\S+?)(?: |%20)*$/i.exec(header)?.[1];
}

/** @returns why a key is refused; undefined if it is accepted. The reason is never sent to the client. */
function refusalOf(
  token: string | undefined,
  entry: RingEntry | undefined,
  now: number,
): Refusal | undefined {
  if (entry === undefined) return { reason: token === undefined || !isKey(token) ? 'malformed' : 'unknown' };
  const { keyId } = entry;
  if (entry.expiresAt !== null && now >= entry.expiresAt) return { reason: 'expired', keyId };
  return entry.isUserDisabled ? { reason: 'user_disabled', keyId } : undefined;
}

/** gRPC requests have no method, and browsers send none. */
function isHttp(request: Caller): request is Caller & LoginRequest {
  return request.method !== undefined && request.remoteAddress !== undefined;
}

function unauthenticated(): HttpProblem {
  return new HttpProblem(
    401,
    'unauthenticated',
    'This needs a valid API key, sent as "Authorization: Bearer <API key>".',
    { headers: { 'www-authenticate': 'Bearer' } },
  );
}

/** The answer while users and keys cannot be read yet. */
function notYet(detail: string): HttpProblem {
  return new HttpProblem(503, 'storage_unavailable', detail, { headers: { 'retry-after': '1' } });
}
