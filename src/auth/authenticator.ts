import { HttpProblem, type HttpRequest } from '../component/http.js';
import { SCOPES, type Identity, type Scope } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import type { AuthConfig } from '../config/file-schema.js';
import type { MetaStore } from '../storage/meta-store.js';
import { bootstrap } from './bootstrap.js';
import { KeyRing, type RingEntry } from './key-ring.js';
import { LastUsed } from './last-used.js';
import { grants } from './scopes.js';

/** Knows who sends a request. */
export interface Authenticator {
  /** Where the first key was written, if this start generated one. */
  readonly initialKeyFile: string | null;
  /**
   * Who sends a request, from its `Authorization: Bearer` header.
   *
   * @param scope the scope the request needs; none asks only for a valid key.
   * @throws HttpProblem 401 `unauthenticated`, the same for every reason; 403 `forbidden_scope`.
   */
  authenticate(request: Pick<HttpRequest, 'header'>, scope?: Scope): Identity;
  /** Writes when keys were last used. Safe twice. */
  close(): Promise<void>;
}

export interface AuthenticatorOptions {
  readonly metaStore: MetaStore;
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
  const { metaStore, config, clock, logger } = options;
  const initialKeyFile = await bootstrap(options);
  if (!config.enabled) return openAuthenticator(metaStore, initialKeyFile, logger);

  // Nobody changes keys before the listeners open, which is after this: no change falls in between.
  const ring = new KeyRing(await metaStore.listKeys());
  const unwatch = metaStore.watchKeys((change) => {
    ring.apply(change);
  });
  warnOfUnusedKey(ring, config, logger);
  return guarded(ring, new LastUsed(metaStore, clock, logger), clock, initialKeyFile, unwatch);
}

function guarded(
  ring: KeyRing,
  lastUsed: LastUsed,
  clock: Clock,
  initialKeyFile: string | null,
  unwatch: () => void,
): Authenticator {
  return {
    initialKeyFile,
    authenticate(request, scope) {
      const now = clock.now();
      const token = bearerToken(request.header('authorization'));
      const entry = token === undefined ? undefined : ring.find(token);
      if (!entry || !isValid(entry, now)) throw unauthenticated();
      lastUsed.note(entry.keyId, now);
      if (scope !== undefined && !grants(entry.identity.scopes, scope)) throw forbidden(scope);
      return entry.identity;
    },
    async close() {
      unwatch();
      await lastUsed.close();
    },
  };
}

/** With `auth.enabled: false` everybody is the first user. */
async function openAuthenticator(
  metaStore: MetaStore,
  initialKeyFile: string | null,
  logger: Logger,
): Promise<Authenticator> {
  const [first] = [...(await metaStore.listUsers())].sort(
    (a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1),
  );
  if (!first) throw new Error('Authentication is off, but the store has no user to act for');
  const identity: Identity = { userId: first.id, keyId: null, scopes: SCOPES };
  logger.warn(
    { user: first.name },
    'Authentication is off: every request acts as the first user, with all scopes',
  );
  return { initialKeyFile, authenticate: () => identity, close: async () => undefined };
}

function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1];
}

function isValid(entry: RingEntry, now: number): boolean {
  return entry.revokedAt === null && (entry.expiresAt === null || now < entry.expiresAt);
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

/** The configured key counts only on the first start: whoever changed it later should hear why it does not work. */
function warnOfUnusedKey(ring: KeyRing, config: AuthConfig, logger: Logger): void {
  if (config.bootstrap_key === undefined || ring.find(config.bootstrap_key)) return;
  logger.warn(
    { setting: 'auth.bootstrap_key' },
    'The configured bootstrap key is not used: the store has users already; create keys with "jackdaw keys create"',
  );
}
