import type { BrowserLogins, LoginSite } from './browser-logins.js';
import type { DaemonHealth } from './daemon-health.js';
import type { DaemonView } from './daemon-view.js';
import type { Identity } from './identity.js';
import type { Listener, HttpRequest } from './http.js';
import type { Prices } from './prices.js';
import type { Rejections } from './rejections.js';
import type { SecretBox } from './secret-box.js';
import type { SmtpSettings } from './smtp.js';
import type { Status } from './status.js';
import type { UserLimits } from './user-limits.js';

/** What the daemon offers a component from its `start` on. */
export interface Host {
  /**
   * The extension of that id (`duckdb`, `duckdb/archive`), if it can do what is wanted.
   *
   * @throws Error when there is no such extension, it is not in `service.extensions`, or it cannot do that.
   */
  extension<T>(id: string, isWanted: (candidate: unknown) => candidate is T): T;

  /**
   * The HTTP listener of an endpoint (`127.0.0.1:4319`), shared by all components that name it. It opens once every component has
   * started.
   *
   * @throws Error when another component asked for different TLS settings on it.
   */
  listener(endpoint: string, options?: ListenerOptions): Listener;

  /**
   * Who sends this request. Synchronous, so that it can come before the body is read.
   *
   * @param scope the scope the request needs.
   * @throws HttpProblem 401 `unauthenticated`, 403 `forbidden_scope`; what `HttpRequest.identified` throws
   */
  authenticate(request: Caller, scope?: Identity['scopes'][number]): Identity;

  /**
   * Who sends a request by the keys and logins that hold now, for an answer that goes on: `authenticate` is about its beginning. It
   * counts as no use of either.
   *
   * @returns undefined where neither holds any more
   */
  identityNow(request: Caller): Identity | undefined;

  /**
   * For code that changes keys and users: resolves when `authenticate` goes by them as they were stored when this was called. Where they
   * cannot be read then it resolves, too, since the change is stored: `authenticate` follows as soon as it can.
   */
  settleKeys(): Promise<void>;

  /**
   * Encrypts what a store must be able to give back.
   *
   * @param directory of the store: where a key is made when none is configured (`secrets.key`); null where it has none: then what needs a
   * key fails without a configured one
   */
  secretBox(directory: string | null): SecretBox;

  /**
   * Lets browsers in by a cookie, for pages that are served there; until then no request is identified by one.
   *
   * @throws Error where another component does so already, or no extension keeps users
   */
  browserLogins(site: LoginSite): Promise<BrowserLogins>;

  /** For listeners that a component opens itself; HTTP listeners use them automatically. */
  readonly trustedProxies: TrustedProxies;

  /** What one user may have of what all share. HTTP listeners apply it by themselves. */
  readonly userLimits: UserLimits;

  /** What users sent and was not taken. */
  readonly rejections: Rejections;

  /** By what model calls are priced. */
  readonly prices: Prices;

  /** The mail server (section `smtp`); null where none is configured. */
  readonly smtp: SmtpSettings | null;

  /**
   * Announces where the component listens, when that is not an HTTP listener of the daemon.
   *
   * @param endpoint as configured
   * @param address the real one, `grpc://127.0.0.1:4317`
   * @param paths what is served there
   */
  announce(endpoint: string, address: string, paths: readonly string[]): void;

  /** Reports the component's state to the daemon. The engine reports its start and its end. */
  reportStatus(status: Status): void;

  /** The current state of the daemon and all its components. */
  health(): DaemonHealth;

  /** What runs, and what passes through it. */
  readonly daemon: DaemonView;
}

/** The proxies in front of the daemon (`service.http.trusted_proxies`). */
export interface TrustedProxies {
  includes(address: string): boolean;
  /**
   * The address of a client.
   *
   * @param peer the other end of the connection
   * @param header a header of the request by its lower-case name
   * @returns the peer, unless it is a trusted proxy that names the client
   */
  clientOf(peer: string, header: (name: string) => string | undefined): string;
}

/** What authentication needs of a request. A refused key is logged with the address, if there is one. */
export type Caller = Pick<HttpRequest, 'header' | 'identified'> &
  Partial<Pick<HttpRequest, 'remoteAddress' | 'method'>>;

/** How a listener speaks TLS; all files in PEM form. */
export interface TlsOptions {
  /** Certificate and chain. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities, one of which must have issued the client's certificate; absent: clients need none. */
  readonly clientCaFile?: string | undefined;
  /** Default `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
}

export interface ListenerOptions {
  readonly tls?: TlsOptions | undefined;
  /** Origins that browsers may call from; `*` for any. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Names under which it answers, beside its own addresses and `localhost`: `jackdaw.example.com`, `*.internal:8443`. */
  readonly hosts?: readonly string[] | undefined;
  /** Whether browsers reach it by HTTPS although it does not speak TLS: through a proxy. */
  readonly isHttps?: boolean | undefined;
}
