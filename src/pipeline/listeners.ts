import type { ListenerOptions, TrustedProxies } from '../component/host.js';
import type { HttpRequest, Listener } from '../component/http.js';
import type { Config } from '../config/config.js';
import type { UserLimits } from '../component/user-limits.js';
import { parseEndpoint } from '../config/endpoint.js';
import type { ServiceConfig } from '../config/file-schema.js';
import { durationMs } from '../config/duration.js';
import { sizeBytes } from '../config/size.js';
import type { EngineChoice } from '../http/engine-choice.js';
import type { HttpLimits } from '../http/limits.js';
import { createListener, type HttpListener } from '../http/listener.js';
import { trustProxies } from '../http/trusted-proxies.js';
import type { BuildTools } from './build.js';
import type { Deadline } from './deadline.js';

/** Paths with this prefix need a key. */
const GUARDED_PREFIX = '/api/v1';

interface Shared {
  readonly listener: HttpListener;
  /** As in the configuration of the first component that uses it. */
  readonly endpoint: string;
  /** Whether a receiver accepts data through it. */
  isIngesting: boolean;
}

/** The HTTP listeners of the daemon: one for each endpoint, shared by all components that use it. */
export class Listeners {
  readonly proxies: TrustedProxies;
  readonly #tools: BuildTools;
  readonly #engine: EngineChoice;
  readonly #limits: Partial<HttpLimits>;
  readonly #hosts: readonly string[];
  readonly #isSameOriginOnly: boolean;
  readonly #users: UserLimits;
  readonly #guard: (request: HttpRequest) => void;
  readonly #byEndpoint = new Map<string, Shared>();
  readonly #addresses = new Map<string, string>();
  readonly #announced = new Map<string, readonly string[]>();

  /** @param guard throws to refuse a request under `/api/v1` */
  constructor(
    tools: BuildTools,
    { service: { http }, auth }: Pick<Config, 'service' | 'auth'>,
    users: UserLimits,
    guard: (request: HttpRequest) => void,
  ) {
    this.#users = users;
    this.#tools = tools;
    this.#hosts = http.hosts;
    this.proxies = trustProxies(http.trusted_proxies);
    this.#isSameOriginOnly = !auth.enabled;
    this.#engine = http.engine;
    this.#limits = limitsOf(http);
    this.#guard = guard;
  }

  /** Configured endpoint → real `http://host:port` or `grpc://host:port`. Complete when the listeners are open. */
  get addresses(): ReadonlyMap<string, string> {
    return this.#addresses;
  }

  /** Real address → the paths served there. Complete when the listeners are open. */
  get paths(): ReadonlyMap<string, readonly string[]> {
    return new Map([
      ...[...this.#byEndpoint.values()].map(
        ({ listener, endpoint }) =>
          [this.#addresses.get(endpoint) ?? endpoint, listener.routes().map(({ path }) => path)] as const,
      ),
      ...this.#announced,
    ]);
  }

  /** The address for browsers on this machine at which an open listener serves a path. */
  addressOf(path: string): string | undefined {
    const found = [...this.paths].find(([, paths]) => paths.includes(path));
    return found?.[0].replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  }

  /** @throws Error if the endpoint is malformed, is open, or has other TLS settings */
  get(endpoint: string, options: ListenerOptions, isIngesting: boolean): Listener {
    const key = keyOf(endpoint);
    let shared = this.#byEndpoint.get(key);
    if (shared) {
      shared.listener.configure(options);
    } else {
      const { meter, clock, logger, tracer } = this.#tools;
      const listener = createListener(endpoint, {
        ...options,
        engine: this.#engine,
        limits: this.#limits,
        proxies: this.proxies,
        users: this.#users,
        hosts: [...this.#hosts, ...(options.hosts ?? [])],
        isSameOriginOnly: this.#isSameOriginOnly,
        meter,
        clock,
        tracer,
        logger: logger.child({ listener: endpoint }),
      });
      listener.guard(GUARDED_PREFIX, this.#guard);
      shared = { listener, endpoint, isIngesting };
      this.#byEndpoint.set(key, shared);
    }
    shared.isIngesting ||= isIngesting;
    if (this.#isSameOriginOnly && (options.allowedOrigins ?? []).length > 0)
      this.#tools.logger.warn(
        { listener: endpoint, setting: 'cors.allowed_origins' },
        'Authentication is off: pages of other origins are refused, even those allowed by CORS',
      );
    return shared.listener;
  }

  /**
   * Registers a listener that a component opened itself.
   *
   * @param address the real one
   */
  announce(endpoint: string, address: string, paths: readonly string[]): void {
    this.#addresses.set(endpoint, address);
    this.#announced.set(address, paths);
  }

  /** Whether any route requires a key. */
  hasGuardedRoutes(): boolean {
    return [...this.#byEndpoint.values()].some(({ listener }) =>
      listener.routes().some(({ path }) => path.startsWith(`${GUARDED_PREFIX}/`)),
    );
  }

  /** @throws Error of the first listener that cannot open; the others must be closed */
  async open(): Promise<void> {
    for (const { listener, endpoint } of this.#byEndpoint.values()) {
      const { host, port } = await listener.open();
      const name = host.includes(':') ? `[${host}]` : host;
      this.#addresses.set(endpoint, `${listener.secure ? 'https' : 'http'}://${name}:${port}`);
    }
  }

  /** Reloads the certificate of each listener. */
  async reloadTls(note: (name: string, reload: () => Promise<boolean>) => Promise<void>): Promise<void> {
    for (const { listener, endpoint } of this.#byEndpoint.values())
      await note(`listener ${endpoint}`, () => listener.reloadTls());
  }

  /** Stops accepting new data. Listeners without ingestion routes keep running, so that health checks work. */
  drainIngestion(): void {
    for (const { listener, isIngesting } of this.#byEndpoint.values()) if (isIngesting) listener.drain();
  }

  /**
   * Finishes responses in progress, then closes every connection.
   *
   * @returns the errors
   */
  async close(deadline: Deadline): Promise<readonly Error[]> {
    const closing = [...this.#byEndpoint.values()].map(async ({ listener, endpoint }) => {
      await deadline.wait(() => listener.close(deadline.abort), `listener ${endpoint}`);
    });
    const results = await Promise.allSettled(closing);
    return results
      .filter((result) => result.status === 'rejected')
      .map(({ reason }) => (reason instanceof Error ? reason : new Error(String(reason))));
  }
}

/** Endpoints with port 0 are distinct listeners if their texts differ: `127.0.0.1:0` and `localhost:0` are two. */
function keyOf(endpoint: string): string {
  const parsed = parseEndpoint(endpoint);
  return parsed && parsed.port !== 0 ? `${parsed.host.toLowerCase()}:${parsed.port}` : endpoint;
}

/** The configured limits; the listeners have defaults for the others. */
function limitsOf(http: ServiceConfig['http']): Partial<HttpLimits> {
  const { max_requests_in_flight: requests, max_bodies_in_flight: bodies, max_header_size: header } = http;
  const { max_pipelined_requests: pipelined } = http;
  const { headers_timeout: headersTimeout, idle_timeout: idleTimeout, min_rate: minRate } = http;
  const { max_connections: connections, max_connections_per_address: perAddress } = http;
  return {
    ...(requests === undefined ? {} : { maxRequestsInFlight: requests }),
    ...(pipelined === undefined ? {} : { maxPipelined: pipelined }),
    ...(bodies === undefined ? {} : { maxBodyBytesInFlight: sizeBytes(bodies) }),
    ...(header === undefined ? {} : { maxHeaderBytes: sizeBytes(header) }),
    ...(headersTimeout === undefined ? {} : { headersTimeoutMs: durationMs(headersTimeout) }),
    ...(idleTimeout === undefined ? {} : { idleTimeoutMs: durationMs(idleTimeout) }),
    ...(minRate === undefined ? {} : { minRate: sizeBytes(minRate) }),
    ...(connections === undefined ? {} : { maxConnections: connections }),
    ...(perAddress === undefined ? {} : { maxConnectionsPerAddress: perAddress }),
  };
}
