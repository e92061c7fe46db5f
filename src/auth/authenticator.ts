import type { BrowserLogins, LoginRequest, LoginSite } from '../component/browser-logins.js';
import type { Caller } from '../component/host.js';
import { HttpProblem } from '../component/http.js';
import { SCOPES, type Identity, type Scope } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import type { AuthConfig } from '../config/file-schema.js';
import type { KeysVersion, StoredUser } from '../storage/contracts/accounts.js';
import type { ControlPlane } from '../storage/contracts/control-plane.js';
import { KeyRing, type RingEntry } from './key-ring.js';
import { LastUsed } from './last-used.js';
import { Logins, loginUrl } from './logins.js';
import { isKey } from './keys.js';
import { grants } from './scopes.js';
import { StoreFollower } from './store-follower.js';
import { BoundedLines } from '../telemetry/bounded-lines.js';

const LINES_A_MINUTE = 20;

interface Refusal {
  readonly reason: 'malformed' | 'unknown' | 'expired' | 'user_disabled' | 'lacks_scope';
  /** Absent where no usable key is known: of ended keys nothing is in memory. What was sent is never written: it may be a key with a typo. */
  readonly keyId?: string;
  readonly scope?: Scope;
}

/** Writes the audit lines for refused keys, a bounded number of them. */
class Refusals {
  readonly #logger: Logger;
  readonly #lines: BoundedLines;

  constructor(clock: Clock, logger: Logger) {
    this.#logger = logger;
    this.#lines = new BoundedLines(clock, LINES_A_MINUTE, (count) => {
      logger.info({ audit: 'key.refused', count }, 'Audit: further keys were refused; not all are logged');
    });
  }

  /** @param address of the client; undefined where it is not known */
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

/** Finds out who sends a request. */
export interface Authenticator {
  /**
   * Who sends a request, from its `Authorization: Bearer` header, else from the cookie of its browser.
   *
   * @param scope the scope the request needs; none asks only for a valid key.
   * @throws HttpProblem 401 `unauthenticated`, the same for every reason; 403 `forbidden_scope`, `forbidden_origin`.
   */
  authenticate(request: Caller, scope?: Scope): Identity;
  /** Likewise, but by what holds at this moment, and without counting as a use. @returns undefined where nobody is */
  identityNow(request: Caller): Identity | undefined;
  /**
   * Whether a sender that was authenticated may also do something else.
   *
   * @throws HttpProblem 403 `forbidden_scope`
   */
  requireScope(identity: Identity, scope: Scope, request: Caller): void;
  /**
   * Resolves when {@link authenticate} goes by all keys and users as they were stored when it was called; where the store cannot be read
   * then, at once: it follows as soon as it can.
   */
  settle(): Promise<void>;
  /**
   * Lets browsers in from now on. To be called once.
   *
   * @throws ConsumeError where the store cannot be read
   */
  letIn(site: LoginSite): Promise<BrowserLogins>;
  /**
   * A link for a key of the store by its text.
   *
   * @param base address of the pages
   * @returns null where it is no key that is accepted, or nobody is let in
   */
  linkFor(key: string, base: URL): Promise<string | null>;
  /** Writes when keys were last used. May be called twice. */
  close(): Promise<void>;
}

export interface AuthenticatorOptions {
  readonly control: Pick<ControlPlane, 'accounts' | 'logins' | 'watch' | 'directory'>;
  readonly config: AuthConfig;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Reads all keys into memory. Of a store without users nobody is accepted until {@link bootstrap} and a `settle`.
 *
 * @throws Error when the store cannot be read.
 */
export async function createAuthenticator(options: AuthenticatorOptions): Promise<Authenticator> {
  const { control, config, clock, logger } = options;
  if (!config.enabled) return openAuthenticator(options);

  const ring = new KeyRing();
  let version: KeysVersion | null = null;
  const readOn = async (): Promise<boolean> => {
    const changes = await control.accounts.followKeys(version);
    ring.put(changes.keys, clock.now());
    version = changes.version;
    return changes.hasMore;
  };
  const failure = 'Cannot read changes of API keys; known keys remain valid';
  const follower = new StoreFollower(control.watch, { topic: 'keys', readOn, failure }, options);
  await follower.start();
  const lastUsed = new LastUsed(
    (uses) => control.accounts.touchKeys(uses),
    'Could not store when keys were last used; retrying',
    options,
  );
  const refusals = new Refusals(clock, logger);
  const requireScope: Authenticator['requireScope'] = ({ scopes, keyId }, scope, { remoteAddress }) => {
    if (grants(scopes, scope)) return;
    refusals.note({ reason: 'lacks_scope', ...(keyId !== null && { keyId }), scope }, remoteAddress);
    throw lacksScope(scope);
  };
  /** @returns undefined where it is no key that is accepted; that is logged */
  const identityOf = (
    token: string | undefined,
    { remoteAddress }: Pick<Caller, 'remoteAddress'>,
  ): Identity | undefined => {
    const entry = token === undefined ? undefined : ring.find(token);
    const refusal = refusalOf(token, entry, clock.now());
    if (refusal) refusals.note(refusal, remoteAddress);
    return refusal ? undefined : entry?.identity;
  };
  const keys = {
    byText: identityOf,
    byId: (keyId: string) => {
      const entry = ring.byId(keyId);
      return entry && !refusalOf(undefined, entry, clock.now()) ? entry.identity : undefined;
    },
  };
  let logins: Logins | undefined;
  return {
    authenticate(request, scope) {
      const header = request.header('authorization');
      // A request without any key does not concern the audit: every page that is opened by hand makes one.
      const identity =
        header === undefined
          ? isHttp(request) && logins?.identify(request)
          : identityOf(bearerToken(header), request);
      if (!identity) throw unauthenticated();
      if (identity.keyId !== null) lastUsed.note(identity.keyId, clock.now());
      if (scope !== undefined) requireScope(identity, scope, request);
      return identity;
    },
    identityNow(request) {
      const header = request.header('authorization');
      if (header === undefined) return isHttp(request) ? logins?.holderOf(request) : undefined;
      const token = bearerToken(header);
      const entry = token === undefined ? undefined : ring.find(token);
      return refusalOf(token, entry, clock.now()) ? undefined : entry?.identity;
    },
    requireScope,
    letIn: async (site) => (logins = await Logins.open(site, { control, keys, clock, logger })),
    linkFor: async (key, base) => {
      const identity = ring.find(key) && identityOf(key, {});
      return identity && logins ? (await logins.linkAt(base, identity)).url : null;
    },
    settle: () => follower.settle(),
    async close() {
      follower.close();
      refusals.close();
      await logins?.close();
      await lastUsed.close();
    },
  };
}

/** With `auth.enabled: false` everybody counts as the first user that is not disabled. */
async function openAuthenticator({
  control,
  clock,
  logger,
}: Pick<AuthenticatorOptions, 'control' | 'clock' | 'logger'>): Promise<Authenticator> {
  let first: StoredUser | undefined;
  /** A new store has no user until the end of the start. */
  const findFirst = async (): Promise<void> => {
    if (first !== undefined) return;
    const users = await control.accounts.listUsers();
    first = users.find(({ disabled }) => !disabled);
    if (first !== undefined)
      logger.warn(
        { user: first.name },
        'Authentication is off: every request acts as the first user, with all scopes',
      );
    else if (users.length > 0)
      throw new Error('Authentication is off, but the store has no user to act for that is not disabled');
  };
  const firstNow = (): StoredUser => {
    if (first !== undefined) return first;
    throw notYet('The store has no users yet.');
  };
  const identity = (): Identity => ({ userId: firstNow().id, keyId: null, scopes: SCOPES });
  await findFirst();
  return {
    authenticate: identity,
    identityNow: identity,
    requireScope: () => undefined,
    letIn: async ({ publicUrl, secure }) => ({
      enter: async () => ({ cookie: null, identity: identity() }),
      leave: async () => null,
      readLink: async () => {
        const { name, email } = firstNow();
        return { name, email, expiresAt: clock.now() };
      },
      createLink: async (_, request) => {
        const base =
          publicUrl ?? new URL(`${secure ? 'https' : 'http'}://${request.header('host') ?? 'localhost'}/`);
        return { url: loginUrl(base, null), expiresAt: clock.now() };
      },
      sessionsOf: async () => [],
      end: async () => undefined,
    }),
    linkFor: async (_, base) => loginUrl(base, null),
    settle: findFirst,
    close: async () => undefined,
  };
}

/** Spaces may be `%20`: some clients send what stands in `OTEL_EXPORTER_OTLP_HEADERS` undecoded. */
function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer(?: |%20)+(\S+?)(?: |%20)*$/i.exec(header)?.[1];
}

/** @returns why a key is refused; undefined where it is accepted. The client is told none of it. */
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

/** Calls by gRPC have no method, and no browser makes them. */
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

/** The answer to a request that comes before users and keys can be read. */
export function notYet(detail: string): HttpProblem {
  return new HttpProblem(503, 'storage_unavailable', detail, { headers: { 'retry-after': '1' } });
}

/** The refusal of a key that may not do what a request asks for. */
export function lacksScope(scope: Scope): HttpProblem {
  return new HttpProblem(403, 'forbidden_scope', `The API key lacks the scope "${scope}".`);
}
