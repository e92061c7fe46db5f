import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../component/telemetry.js';
import type { Connection, Connections } from '../../http/connections.js';
import { countConnections } from '../../http/peers.js';

/** Time for a new connection to say that it speaks HTTP/2. */
const GREETING_MS = 10_000;
/** Clients open a new connection when they need one. */
const IDLE_MS = 600_000;
/** So that connections whose client is gone without a word are closed. */
const PING_EVERY_MS = 60_000;
const PING_TIMEOUT_MS = 20_000;

/**
 * The connections of a gRPC server: none stays that does not greet, answer pings, or make a call for long; and no more than there is
 * room for in the table.
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

  /** Closes every connection, whatever is under way. */
  cut(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** @param placeOf what is in the table only after this; undefined where the connection was closed for want of room */
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
    // What goes wrong with a connection ends it, which `close` tells.
    session.on('error', () => undefined);
    session.once('close', () => {
      this.#sessions.delete(session);
      cancelIdle();
      cancelPing();
    });
  }
}
