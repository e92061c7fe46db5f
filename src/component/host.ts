import type { BrowserLogins, LoginSite } from './browser-logins.js';
import type { DaemonHealth } from './daemon-health.js';
import type { DaemonView } from './daemon-view.js';
import type { Identity } from './identity.js';
import type { Copies, IntakeThreads } from './intake.js';
import type { Listener, HttpRequest } from './http.js';
import type { Prices } from './prices.js';
import type { Rejections } from './rejections.js';
import type { SecretBox } from './secret-box.js';
import type { SmtpSettings } from './smtp.js';
import type { Status } from './status.js';
import type { UserLimits } from './user-limits.js';

/** Services of the daemon for a component, available from its `start`. */
export interface Host {
  /**
   * Returns the extension with that id (`duckdb`, `duckdb/archive`) if it has the wanted capability.
   *
   * @throws Error if there is no such extension, it is not in `service.extensions`, or it lacks the capability.
   */
  extension<T>(id: string, isWanted: (candidate: unknown) => candidate is T): T;

  /**
   * The HTTP listener of an endpoint (`127.0.0.1:4319`), shared by all components that name it. It opens once every component has
   * started.
   *
   * @throws Error if another component requested different TLS settings on it.
   */
  listener(endpoint: string, options?: ListenerOptions): Listener;

  /**
   * Identifies the sender of a request. Synchronous, so that it can precede reading the body.
   *
   * @param needed the scope that the request needs; `any`: any key but one that can only send scores; absent: any key
   * @throws HttpProblem 401 `unauthenticated`, 403 `forbidden_scope`; any error of `HttpRequest.identified`
   */
  authenticate(request: Caller, needed?: Identity['scopes'][number] | 'any'): Identity;

  /**
   * Who sends a request by the keys and logins that hold now, for a streaming response: `authenticate` is about its beginning. It
   * counts as no use of either.
   *
   * @returns undefined if neither holds any more
   */
  identityNow(request: Caller): Identity | undefined;

  /**
   * For code that changes keys and users: resolves when `authenticate` uses the keys and users stored at the time of the call. It also
   * resolves if they cannot be read, since the change is stored: `authenticate` follows as soon as it can.
   */
  refreshKeys(): Promise<void>;

  /**
   * Encrypts secrets that a store must be able to return in plain text.
   *
   * @param directory of the store: a key is created there if none is configured (`secrets.key`); null if it has none: operations that
   *   need a key then fail without a configured one
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

  /** For receivers: the intake threads; absent if everything runs on the main thread. */
  readonly intake?: IntakeThreads | undefined;

  /** Its copies in the intake threads; absent if it has none. */
  readonly copies?: Copies | undefined;

  /** One user's part of shared resources. HTTP listeners apply it automatically. */
  readonly userLimits: UserLimits;

  /** Rejected items of users. */
  readonly rejections: Rejections;

  /** Prices of model calls. */
  readonly prices: Prices;

  /** The mail server (section `smtp`); null where none is configured. */
  readonly smtp: SmtpSettings | null;

  /**
   * Announces the address of a component that does not use an HTTP listener of the daemon.
   *
   * @param endpoint as configured
   * @param address the real one, `grpc://127.0.0.1:4317`
   * @param paths the paths served there
   */
  announce(endpoint: string, address: string, paths: readonly string[]): void;

  /** Reports the component's state to the daemon. The engine reports its start and its end. */
  reportStatus(status: Status): void;

  /** The current state of the daemon and all its components. */
  health(): DaemonHealth;

  /** Running components and their throughput. */
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

/** The parts of a request used for authentication. A refused key is logged with the address, if there is one. */
export type Caller = Pick<HttpRequest, 'header' | 'identified'> &
  Partial<Pick<HttpRequest, 'remoteAddress' | 'method'>>;

/** How a listener speaks TLS; all files in PEM form. */
export interface TlsOptions {
  /** Certificate and chain. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Certificate authorities for client certificates; if absent, clients need none. */
  readonly clientCaFile?: string | undefined;
  /** Default `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
}

export interface ListenerOptions {
  readonly tls?: TlsOptions | undefined;
  /** Origins that browsers may call from; `*` for any. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Additional host names of the listener, next to its own addresses and `localhost`: `jackdaw.example.com`, `*.internal:8443`. */
  readonly hosts?: readonly string[] | undefined;
  /** Whether browsers reach it by HTTPS although it does not speak TLS: through a proxy. */
  readonly isHttps?: boolean | undefined;
}
