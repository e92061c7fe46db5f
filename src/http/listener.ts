import type { Listener, Route } from '../component/http.js';
import type { ListenerOptions } from '../component/host.js';
import type { Clock, Logger, Meter } from '../component/telemetry.js';

/** `auto` takes uWebSockets.js where it can be loaded and `node:http` otherwise. */
export type EngineChoice = 'auto' | 'uws' | 'node';

/** Bounds of one listener. All of them hold for both engines. */
export interface HttpLimits {
  /** Bytes of bodies held for requests under way; more are refused with 503 before they are read. Default 256 MiB. */
  readonly maxBodyBytesInFlight: number;
  /** Requests under way; more are refused with 503. Default 4096. */
  readonly maxRequestsInFlight: number;
  /** A connection that sends nothing for this long is closed, in milliseconds. Default 60 000. */
  readonly idleTimeoutMs: number;
}

export interface HttpListenerOptions extends ListenerOptions {
  readonly engine?: EngineChoice | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
}

/** The real address of an open listener. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A listener as its owner, the daemon, sees it. */
export interface HttpListener extends Listener {
  /** Whether it speaks TLS: the scheme of its address. */
  readonly secure: boolean;
  /**
   * Adds what a further component wants of the shared endpoint: origins are joined.
   *
   * @throws Error when other TLS files were asked for before, or the listener is open.
   */
  configure(options: ListenerOptions): void;
  /** All routes, in the order they were added. */
  routes(): readonly Route[];
  /**
   * Binds the port. @returns the real address, also for port 0.
   * @throws Error that names the endpoint and the cure: port taken, address not here, unreadable or unfit TLS files.
   */
  open(): Promise<Address>;
  /** From now on new requests get 503 `shutting_down`; those under way go on. */
  drain(): void;
  /**
   * Drains, stops listening, waits for the answers under way until the deadline, then closes every connection.
   * Safe when it never opened, and twice.
   */
  close(deadline: AbortSignal): Promise<void>;
}

/**
 * An HTTP listener on `host:port`, `[::1]:port`, `localhost:port` or `:port` (all addresses).
 *
 * @throws Error when the endpoint cannot be read.
 */
export function createListener(endpoint: string, options: HttpListenerOptions): HttpListener {
  throw new Error(`HTTP listener ${endpoint}: not there yet (engine ${options.engine ?? 'auto'})`);
}
