import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../component/telemetry.js';
import type { Connection, Connections } from '../../http/connections.js';
import { countConnections } from '../../http/peers.js';

/** How long a new connection may take to say that it speaks HTTP/2. */
const GREETING_MS = 10_000;
/** How long a connection may be idle; clients open a new one when they need it. */
const IDLE_MS = 600_000;
/** Interval of pings, so that connections of vanished clients are closed. */
const PING_EVERY_MS = 60_000;
const PING_TIMEOUT_MS = 20_000;

/**
 * The connections of a gRPC server. A connection is closed when it does not greet, does not answer pings, or makes no call for
 * long, and when the table has no room for it.
 */
export class GrpcConnections {
  readonly #clock: Clock;
  readonly #table: Connections;
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(server: Http2Server, table: Connections, clock: Clock) {
    this.#clock = clock;
    this.#table = table;
    const placeOf = countConnections(server, table);
    server.on('session', (session) => {
      this.#watch(session, () => placeOf(session.socket));
    });
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Takes no new calls; each connection closes after its last. */
  drain(): void {
    for (const session of this.#sessions) session.close();
  }

  /** Closes all connections, including active ones. */
  cut(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** @param placeOf gives its place in the table; undefined if the connection was closed for lack of room */
  #watch(session: ServerHttp2Session, placeOf: () => Connection | undefined): void {
    let place: Connection | undefined;
    this.#sessions.add(session);
    let streams = 0;
    let cancelPing = (): void => undefined;
    let cancelIdle = this.#clock.after(GREETING_MS, () => {
      session.destroy();
    });
    const idle = (): void => {
      cancelIdle();
      cancelIdle = this.#clock.after(IDLE_MS, () => {
        session.close();
      });
    };
    const ping = (): void => {
      cancelPing = this.#clock.after(PING_EVERY_MS, () => {
        if (session.destroyed) return;
        const cancel = this.#clock.after(PING_TIMEOUT_MS, () => {
          session.destroy();
        });
        cancelPing = cancel;
        session.ping(() => {
          cancel();
          if (!session.destroyed) ping();
        });
      });
    };
    session.once('remoteSettings', () => {
      if (streams === 0) idle();
      ping();
    });
    session.on('stream', (stream: ServerHttp2Stream) => {
      streams++;
      cancelIdle();
      place ??= placeOf();
      if (place !== undefined) this.#table.busy(place);
      stream.once('close', () => {
        streams--;
        if (streams > 0 || session.destroyed) return;
        idle();
        if (place !== undefined) this.#table.idle(place);
      });
    });
    // An error of a connection ends it, which `close` reports.
    session.on('error', () => undefined);
    session.once('close', () => {
      this.#sessions.delete(session);
      cancelIdle();
      cancelPing();
    });
  }
}
