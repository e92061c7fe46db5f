import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserLogins, LoginSite } from '../component/browser-logins.js';
import type { Caller } from '../component/host.js';
import { SCOPES, type Identity, type Scope } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import { createAuthenticator, notYet, type Authenticator } from '../auth/authenticator.js';
import { bootstrap, INITIAL_KEY_FILE } from '../auth/bootstrap.js';
import type { AuthConfig } from '../config/file-schema.js';
import { isControlPlane, type ControlPlane } from '../storage/contracts/control-plane.js';

/** Stands for everybody, where authentication is off and no extension keeps users: a daemon that only passes data on. */
const NOBODY: Identity = {
  userId: '00000000-0000-0000-0000-000000000000',
  keyId: null,
  scopes: SCOPES,
};

/** Finds out who calls the daemon: asks the first extension that keeps users and keys. */
export class IdentityGate {
  readonly #config: AuthConfig;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #authenticator: Authenticator | undefined;
  #control: ControlPlane | undefined;
  #initialKeyFile: string | null = null;
  #site: LoginSite | undefined;
  /** Who sent the requests that were asked about: a listener asks before it chooses the route, and the route asks again. */
  readonly #known = new WeakMap<Caller, Identity>();

  constructor(config: AuthConfig, tools: { readonly clock: Clock; readonly logger: Logger }) {
    this.#config = config;
    this.#clock = tools.clock;
    this.#logger = tools.logger;
  }

  get isOpen(): boolean {
    return this.#authenticator !== undefined || !this.#config.enabled;
  }

  /** The file with the first key, whenever it was written, as long as it exists. */
  get initialKeyFile(): string | null {
    return this.#initialKeyFile;
  }

  /** To be called with each extension that has started. The first that is a control plane is used. */
  async offer(candidate: unknown): Promise<void> {
    if (this.#authenticator || !isControlPlane(candidate)) return;
    this.#authenticator = await createAuthenticator({
      control: candidate,
      config: this.#config,
      clock: this.#clock,
      logger: this.#logger,
    });
    this.#control = candidate;
  }

  /** Makes the first user and key where there is none. To be called when everything has started. @throws Error */
  async bootstrap(): Promise<void> {
    if (!this.#control) return;
    await bootstrap({
      control: this.#control,
      config: this.#config,
      clock: this.#clock,
      logger: this.#logger,
    });
    await this.settleKeys();
    const { directory } = this.#control;
    if (directory === null) return;
    const file = join(directory, INITIAL_KEY_FILE);
    if (this.#config.enabled && existsSync(file)) this.#initialKeyFile = file;
  }

  /** @throws HttpProblem 401, 403; 503 before there is anybody to ask; what the request throws when it is told */
  authenticate(request: Caller, scope?: Scope): Identity {
    const known = this.#known.get(request);
    if (known) {
      if (scope !== undefined) this.#authenticator?.requireScope(known, scope, request);
      return known;
    }
    const identity = this.#identityOf(request, scope);
    request.identified?.(identity);
    this.#known.set(request, identity);
    return identity;
  }

  /** @returns undefined where its key or login does not hold any more */
  identityNow(request: Caller): Identity | undefined {
    if (!this.#authenticator) return this.#config.enabled ? undefined : NOBODY;
    return this.#authenticator.identityNow(request);
  }

  /** @throws Error where browsers are let in already, or no extension keeps users */
  async letIn(site: LoginSite): Promise<BrowserLogins> {
    if (this.#site)
      throw new Error('Another extension already handles browser logins: remove one from service.extensions');
    if (!this.#authenticator)
      throw new Error('There is no control store: add one (sqlite, postgres) to service.extensions');
    this.#site = site;
    return await this.#authenticator.letIn(site);
  }

  /**
   * A link that lets a browser in once, with the first key.
   *
   * @param address of the pages, `http://127.0.0.1:4319`
   * @returns null where that key is not in its file any more, is not accepted, or nobody is let in
   */
  async loginLink(address: string): Promise<string | null> {
    if (!this.#site || !this.#authenticator) return null;
    const file = this.#initialKeyFile;
    const key = this.#config.enabled && file !== null ? await readFile(file, 'utf8').catch(() => '') : '';
    return await this.#authenticator.linkFor(key.trim(), this.#site.publicUrl ?? new URL(address));
  }

  async settleKeys(): Promise<void> {
    await this.#authenticator?.settle();
  }

  #identityOf(request: Caller, scope: Scope | undefined): Identity {
    if (!this.#authenticator && !this.#config.enabled) return NOBODY;
    if (!this.#authenticator) throw notYet('API keys cannot be checked yet.');
    return this.#authenticator.authenticate(request, scope);
  }

  /** To be called while the store still runs. May be called twice. */
  async close(): Promise<void> {
    await this.#authenticator?.close();
  }
}
