import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ListenerOptions } from '../component/host.js';
import type { HttpRequest, Listener, Route, UnknownPath } from '../component/http.js';
import type { Clock, Logger, Meter, Tracer } from '../component/telemetry.js';
import type { UserLimits } from '../component/user-limits.js';
import { BoundedLines } from '../telemetry/bounded-lines.js';
import { parseEndpoint, type Endpoint } from '../config/endpoint.js';
import { Connections } from './connections.js';
import { Cors } from './cors.js';
import { Dispatcher } from './dispatcher.js';
import { openEngine, type EngineChoice } from './engine-choice.js';
import type { Engine, EngineOptions } from './engine.js';
import { Gate } from './gate.js';
import { HttpMetrics } from './http-metrics.js';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.js';
import { RebindingGuard } from './rebinding-guard.js';
import { MinRateMonitor } from './min-rate-monitor.js';
import { Router } from './router.js';
import { TlsReload } from './tls-reload.js';
import { isSameTls, readTlsFiles } from './tls.js';
import { trustProxies } from './trusted-proxies.js';
import { NO_RATES } from './user-rates.js';

export interface HttpListenerOptions extends ListenerOptions {
  /** Default `node`. */
  readonly engine?: EngineChoice | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Default: none. */
  readonly proxies?: EngineOptions['proxies'] | undefined;
  /** Default: half of everything for one user, no rates. */
  readonly users?: UserLimits | undefined;
  /** Whether requests of web pages from other origins are refused, even if CORS allows them. */
  readonly isSameOriginOnly?: boolean | undefined;
  /** Should name the listener in its log lines. */
  readonly logger: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
}

/** The real address of an open listener. */
interface Address {
  /** An IP address, IPv6 without brackets; `0.0.0.0` means every address. */
  readonly host: string;
  readonly port: number;
}

/** A listener as used by its owner, the daemon. */
export interface HttpListener extends Listener {
  /**
   * Adds the settings of another component on the shared endpoint: origins and hosts are merged.
   *
   * @throws Error if an earlier component requested different TLS settings
   */
  configure(options: ListenerOptions): void;
  /** All routes, in the order in which they were added. */
  routes(): readonly Route[];
  /**
   * Opens the port.
   *
   * @returns the real address, also for port 0
   * @throws Error that names the endpoint and what to do: port in use, address not available, unreadable or invalid TLS files
   */
  open(): Promise<Address>;
  /**
   * Reads the certificate files now.
   *
   * @returns whether they have changed
   * @throws Error with the reason why the old certificate is kept
   */
  reloadTls(): Promise<boolean>;
  /** Refuses new requests with 503 `shutting_down`; those in progress continue. */
  drain(): void;
  /**
   * Drains, stops listening, waits for responses in progress until the deadline, then closes every connection. Pipelined requests
   * are not started: the connection ends after the responses in progress. May be called without `open`, and twice.
   */
  close(deadline: AbortSignal): Promise<void>;
}

/**
 * Creates an HTTP listener on `host:port`, `[::1]:port`, `localhost:port` (127.0.0.1) or `:port` (all addresses).
 *
 * @throws Error if the endpoint is malformed
 */
export function createListener(endpoint: string, options: HttpListenerOptions): HttpListener {
  const address = parseEndpoint(endpoint);
  if (address === undefined) {
    throw new Error(
      `HTTP listener: ${JSON.stringify(endpoint)} is not an endpoint; write host:port, as in 127.0.0.1:4319`,
    );
  }
  return new SharedListener(endpoint, address, options);
}

class SharedListener implements HttpListener {
  readonly endpoint: string;
  readonly #address: Endpoint;
  readonly #options: HttpListenerOptions;
  readonly #limits: HttpLimits;
  readonly #logger: Logger;
  readonly #router = new Router();
  readonly #gate: Gate;
  readonly #metrics: HttpMetrics;
  readonly #rebinding: RebindingGuard;
  readonly #rateMonitor: MinRateMonitor;
  readonly #connections: Connections;
  readonly #crowded: BoundedLines;
  readonly #dispatcher: Dispatcher;
  #cors: Cors;
  #tls: ListenerOptions['tls'];
  #isHttps = false;
  #opening: Promise<Engine> | undefined;
  #closing: Promise<void> | undefined;
  #tlsReload: TlsReload | undefined;
  #endObservation: (() => void) | undefined;

  constructor(endpoint: string, address: Endpoint, options: HttpListenerOptions) {
    this.endpoint = endpoint;
    this.#address = address;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#logger = options.logger;
    this.#metrics = new HttpMetrics(options.meter, endpoint);
    this.#cors = new Cors(options.allowedOrigins ?? []);
    this.#tls = options.tls;
    this.#rebinding = new RebindingGuard({
      host: address.host,
      hosts: options.hosts ?? [],
      isSameOriginOnly: options.isSameOriginOnly ?? false,
      clock: options.clock,
      logger: this.#logger,
    });
    this.#rateMonitor = new MinRateMonitor(this.#limits.minRate, options.clock);
    this.#connections = new Connections({ ...this.#limits, proxies: options.proxies }, (reason, isNew) => {
      this.#metrics.noRoom(reason, isNew);
      this.#crowded.write(() => {
        const { maxConnections, maxConnectionsPerAddress } = this.#limits;
        this.#logger.warn(
          { reason, maxConnections, maxConnectionsPerAddress },
          'Closed a connection at the limit (service.http.max_connections, max_connections_per_address).',
        );
      });
    });
    this.#crowded = new BoundedLines(options.clock, 1, (count) => {
      this.#logger.warn({ count }, 'Closed more connections at the limit.');
    });
    this.#gate = new Gate({ cors: () => this.#cors, rebinding: this.#rebinding });
    this.#dispatcher = new Dispatcher({
      router: this.#router,
      gate: this.#gate,
      cors: () => this.#cors,
      isHttps: () => this.#isHttps || this.secure,
      limits: this.#limits,
      users: options.users ?? NO_RATES,
      logger: this.#logger,
      metrics: this.#metrics,
      rateMonitor: this.#rateMonitor,
      clock: options.clock,
      tracer: options.tracer,
    });
  }

  get secure(): boolean {
    return this.#tls !== undefined;
  }

  route(route: Route): void {
    this.#router.add(route);
    this.#dispatcher.makeRoomFor(route);
  }

  routes(): readonly Route[] {
    return this.#router.routes();
  }

  unknown(answer: UnknownPath): void {
    this.#gate.unknown(answer);
  }

  guard(prefix: string, check: (request: HttpRequest) => void): void {
    this.#gate.guard(prefix, check);
  }

  configure(options: ListenerOptions): void {
    const { tls, allowedOrigins, hosts } = options;
    if (tls !== undefined) {
      const other = this.#tls;
      const isSame = other !== undefined && isSameTls(other, tls);
      if (!isSame && (other !== undefined || this.#opening !== undefined)) {
        throw new Error(
          `HTTP listener ${this.endpoint}: two components have different TLS settings; make them equal, or change the endpoint of one`,
        );
      }
      this.#tls = tls;
    }
    if (options.isHttps === true) this.#isHttps = true;
    if (hosts !== undefined) this.#rebinding.alsoAnswerTo(hosts);
    if (allowedOrigins !== undefined) this.#cors = new Cors([...this.#cors.origins, ...allowedOrigins]);
  }

  async open(): Promise<Address> {
    const host = this.#address.host === '' ? '' : await this.#resolve(this.#address.host);
    this.#opening ??= this.#listen(host);
    const { port } = await this.#opening;
    return { host: host === '' ? '0.0.0.0' : host, port };
  }

  drain(): void {
    this.#dispatcher.drain();
  }

  async reloadTls(): Promise<boolean> {
    return (await this.#tlsReload?.reload()) ?? false;
  }

  close(deadline: AbortSignal): Promise<void> {
    this.drain();
    return (this.#closing ??= this.#shutDown(deadline));
  }

  async #listen(host: string): Promise<Engine> {
    try {
      const tls = this.#tls === undefined ? undefined : await readTlsFiles(this.#tls);
      const engine = await openEngine(
        this.#options.engine ?? 'node',
        {
          host,
          port: this.#address.port,
          tls,
          limits: this.#limits,
          proxies: this.#options.proxies ?? trustProxies([]),
          connections: this.#connections,
          watchReader: (moved, cut) =>
            this.#rateMonitor.watch(this.#limits.idleTimeoutMs, {
              moved,
              tooSlow: () => {
                this.#metrics.slowReader();
                cut();
              },
            }),
          onRequest: this.#dispatcher.accept,
          onUnreadable: (status) => {
            this.#metrics.answered('other', status, undefined, 0);
          },
        },
        this.#logger,
      );
      if (tls !== undefined)
        this.#tlsReload = new TlsReload(tls, (files) => engine.replaceTls(files), {
          ...this.#options,
          endpoint: this.endpoint,
        });
      this.#rebinding.listensOn(host, engine.port);
      this.#endObservation = this.#metrics.observe({
        bytes: () => this.#dispatcher.bodyBytesInFlight,
        requests: () => this.#dispatcher.requestsInFlight,
        connections: () => this.#connections.count,
      });
      return engine;
    } catch (error) {
      throw this.#cannotListen(error);
    }
  }

  async #shutDown(deadline: AbortSignal): Promise<void> {
    const engine = await this.#opening?.catch(() => undefined);
    this.#tlsReload?.close();
    if (engine === undefined) return;
    engine.stopListening();
    let left = await this.#dispatcher.whenIdle(deadline);
    // Requests that the system has already received are answered with 503 instead of a reset.
    if (left === 0) {
      await turnOfTheLoop();
      left = await this.#dispatcher.whenIdle(deadline);
    }
    if (left > 0) this.#logger.warn({ requests: left }, 'Shutdown timed out: open requests were cut off.');
    engine.close();
    this.#rebinding.close();
    this.#rateMonitor.close();
    this.#crowded.close();
    this.#endObservation?.();
  }

  /** Resolves a host name, so that both engines use the same address. */
  async #resolve(host: string): Promise<string> {
    if (host.toLowerCase() === 'localhost') return '127.0.0.1';
    if (isIP(host) !== 0) return host;
    try {
      return (await lookup(host)).address;
    } catch (error) {
      throw this.#cannotListen(error);
    }
  }

  #cannotListen(error: unknown): Error {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    const reason = code === undefined ? undefined : REASONS[code];
    const message = reason ?? (error instanceof Error ? error.message : String(error));
    return new Error(`HTTP listener ${this.endpoint}: ${message}`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken (EADDRINUSE). Stop the process that uses it, or set another endpoint',
  EADDRNOTAVAIL:
    'this machine has no such address (EADDRNOTAVAIL). Set an endpoint with one of its addresses',
  EACCES: 'this user may not open the port (EACCES). Use a port above 1023, or grant the permission',
  ENOTFOUND: 'the host name cannot be resolved (ENOTFOUND). Set an endpoint with an IP address',
};

/** Long enough to read the data buffered in the sockets. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      setImmediate(resolve);
    });
  });
}
