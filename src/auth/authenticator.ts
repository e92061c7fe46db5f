import type { Caller } from '../component/host.js';
import { HttpProblem } from '../component/http.js';
import { SCOPES, type Identity, type Scope } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import type { AuthConfig } from '../config/file-schema.js';
import type { ControlPlane } from '../storage/control-plane.js';
import { bootstrap } from './bootstrap.js';
import { KeyFollower } from './key-follower.js';
import { KeyRing, type RingEntry } from './key-ring.js';
import { LastUsed } from './last-used.js';
import { isKey } from './keys.js';
import { Refusals, type Refusal } from './refusals.js';
import { grants } from './scopes.js';

/** Finds out who sends a request. */
export interface Authenticator {
  /** Where the first key was written, if this start generated one. */
  readonly initialKeyFile: string | null;
  /**
   * Who sends a request, from its `Authorization: Bearer` header.
   *
   * @param scope the scope the request needs; none asks only for a valid key.
   * @throws HttpProblem 401 `unauthenticated`, the same for every reason; 403 `forbidden_scope`.
   */
  authenticate(request: Caller, scope?: Scope): Identity;
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
  /** Writes when keys were last used. May be called twice. */
  close(): Promise<void>;
}

export interface AuthenticatorOptions {
  readonly control: Pick<ControlPlane, 'accounts' | 'watch' | 'directory'>;
  readonly config: AuthConfig;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Bootstraps a store without users, then reads all keys into memory.
 *
 * @throws Error when the bootstrap fails or the store cannot be read.
 */
export async function createAuthenticator(options: AuthenticatorOptions): Promise<Authenticator> {
  const { control, config, clock, logger } = options;
  const initialKeyFile = await bootstrap(options);
  if (!config.enabled) return openAuthenticator(control, initialKeyFile, logger);

  const ring = new KeyRing();
  const follower = new KeyFollower(control, ring, options);
  await follower.start();
  warnOfUnusedKey(ring, config, logger);
  const lastUsed = new LastUsed(control.accounts, clock, logger);
  const refusals = new Refusals(clock, logger);
  const requireScope: Authenticator['requireScope'] = ({ scopes, keyId }, scope, { remoteAddress }) => {
    if (grants(scopes, scope)) return;
    refusals.note({ reason: 'lacks_scope', ...(keyId !== null && { keyId }), scope }, remoteAddress);
    throw forbidden(scope);
  };
  return {
    initialKeyFile,
    authenticate(request, scope) {
      const now = clock.now();
      const header = request.header('authorization');
      // A request without any key does not concern the audit: every page that is opened by hand makes one.
      if (header === undefined) throw unauthenticated();
      const token = bearerToken(header);
      const entry = token === undefined ? undefined : ring.find(token);
      const refusal = refusalOf(token, entry, now);
      if (!entry || refusal) {
        if (refusal) refusals.note(refusal, request.remoteAddress);
        throw unauthenticated();
      }
      lastUsed.note(entry.keyId, now);
      if (scope !== undefined) requireScope(entry.identity, scope, request);
      return entry.identity;
    },
    requireScope,
    settle: () => follower.settle(),
    async close() {
      follower.close();
      refusals.close();
      await lastUsed.close();
    },
  };
}

/** With `auth.enabled: false` everybody counts as the first user that is not disabled. */
async function openAuthenticator(
  control: Pick<ControlPlane, 'accounts'>,
  initialKeyFile: string | null,
  logger: Logger,
): Promise<Authenticator> {
  const first = (await control.accounts.listUsers()).find(({ disabled }) => !disabled);
  if (!first)
    throw new Error('Authentication is off, but the store has no user to act for that is not disabled');
  const identity: Identity = { userId: first.id, keyId: null, scopes: SCOPES };
  logger.warn(
    { user: first.name },
    'Authentication is off: every request acts as the first user, with all scopes',
  );
  return {
    initialKeyFile,
    authenticate: () => identity,
    requireScope: () => undefined,
    settle: async () => undefined,
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
  if (entry.isRevoked) return { reason: 'revoked', keyId };
  if (entry.expiresAt !== null && now >= entry.expiresAt) return { reason: 'expired', keyId };
  return entry.isUserDisabled ? { reason: 'user_disabled', keyId } : undefined;
}

function unauthenticated(): HttpProblem {
  return new HttpProblem(
    401,
    'unauthenticated',
    'This needs a valid API key, sent as "Authorization: Bearer <API key>".',
    { headers: { 'www-authenticate': 'Bearer' } },
  );
}

function forbidden(scope: Scope): HttpProblem {
  return new HttpProblem(403, 'forbidden_scope', `The API key lacks the scope "${scope}".`);
}

/** The configured key counts only on the first start: whoever changes it later should learn why it does not work. */
function warnOfUnusedKey(ring: KeyRing, config: AuthConfig, logger: Logger): void {
  if (config.bootstrap_key === undefined || ring.find(config.bootstrap_key)) return;
  logger.warn(
    { setting: 'auth.bootstrap_key' },
    'The configured bootstrap key is not used: the store has users already; create keys with "jackdaw keys create"',
  );
}
