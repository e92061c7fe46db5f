import type { Socket } from 'node:net';
import { groupName, type Connection, type Connections } from './connections.js';
import type { EngineOptions } from './engine.js';
import type { FairQueue } from './fair-queue.js';
import { unreadableAnswer, type UnreadableError } from './unreadable.js';

/** How long to wait for the end of a connection after everything was sent. */
const LINGER_MS = 2000;
/** Delays between checks for a client that has ended its side. Some clients accept no more than five responses of this kind. */
const PROBES_MS = [100, LINGER_MS];
/** Maximum number of concurrent requests of a connection, as long as none of them has a response. */
const MAX_AT_ONCE = 16;
/**
 * Requests after the last one that are read and discarded, so that closing does not reset the connection before its response
 * arrives.
 */
const MAX_DROPPED = 1000;

/** Work of connections that alternates by address. */
export interface ConnectionQueues {
  readonly ofRequests: FairQueue;
  readonly ofPieces: FairQueue;
  readonly ofBodies: FairQueue;
}

/** A request in progress on a connection. */
interface UnderWay {
  /** Whether its response has begun. */
  readonly hasBegun: boolean;
  /** Whether the request is complete. */
  readonly hasWholeRequest: boolean;
  watchWhenStuck(): void;
  /** No more of its body will arrive. */
  bodyEnded(): void;
  /** Makes the system check whether the client is still connected. */
  probe(): void;
  connectionClosed(): void;
}

/** A connection of `node:http`: its requests in progress, and how it ends. */
export class NodeConnection {
  readonly #socket: Socket;
  /** Its entry in the table of all connections; undefined if it is already closed. */
  readonly #slot: Connection | undefined;
  readonly #table: Connections;
  /** Requests in progress, in the order of arrival. */
  readonly #underWay: UnderWay[] = [];
  /** Functions that start the pipelined requests, in order. */
  #waiting: (() => void)[] = [];
  /** Whether the next one is queued for its turn. */
  #isStarting = false;
  readonly #maxWaiting: number;
  readonly #queues: ConnectionQueues;
  #dropped = 0;
  #isEnding = false;
  #unreadable: string | undefined;

  constructor(
    socket: Socket,
    slot: Connection | undefined,
    { connections, limits }: Pick<EngineOptions, 'connections' | 'limits'>,
    queues: ConnectionQueues,
  ) {
    this.#socket = socket;
    this.#slot = slot;
    this.#table = connections;
    this.#maxWaiting = limits.maxPipelined;
    this.#queues = queues;
    socket.once('end', () => {
      this.#lookForClient();
    });
    socket.once('close', () => {
      this.#waiting = [];
      // Node reports the closing only for the first response.
      for (const exchange of [...this.#underWay]) exchange.connectionClosed();
    });
  }

  /**
   * Starts a request immediately, or queues it if others on the connection precede it. While a response waits for its reader no
   * further one is created, so that at most one response is buffered for each connection.
   *
   * @returns false if too many requests are queued
   */
  take(start: () => void): boolean {
    if (this.#isEnding) {
      // It follows a request that ends the connection, so no client would read its response.
      if (++this.#dropped > MAX_DROPPED) this.#socket.pause();
      return true;
    }
    if (this.#waiting.length === 0 && this.#underWay.length === 0) {
      start();
      return true;
    }
    // Requests up to this number only wait for their turn.
    const room = Math.max(0, MAX_AT_ONCE - this.#underWay.length);
    if (this.#waiting.length >= this.#maxWaiting + room) return false;
    this.#waiting.push(start);
    this.#startNext();
    return true;
  }

  /** Marks that the response about to be sent ends the connection. */
  endAfterAnswer(): void {
    this.#isEnding = true;
    this.#waiting = [];
  }

  /** Whether no later request is in progress. */
  isLast(exchange: UnderWay): boolean {
    return this.#underWay.at(-1) === exchange;
  }

  began(exchange: UnderWay): void {
    if (this.#underWay.push(exchange) === 1 && this.#slot !== undefined) this.#table.busy(this.#slot);
  }

  over(exchange: UnderWay): void {
    const at = this.#underWay.indexOf(exchange);
    if (at >= 0) this.#underWay.splice(at, 1);
    const [first] = this.#underWay;
    // Its data is sent only now.
    if (at === 0 && first?.hasBegun === true) first.watchWhenStuck();
    if (this.#waiting.length > 0) this.#startNext();
    else if (this.#underWay.length === 0 && this.#slot !== undefined) this.#table.idle(this.#slot);
    this.#refuseInTurn();
  }

  /**
   * Writes more of a large response, in turn with other connections.
   *
   * @param task must not throw
   */
  writeQueued(task: () => void): void {
    this.#queues.ofPieces.add(this.#address, task);
  }

  /**
   * Receives more of a large body, in turn with other connections.
   *
   * @param task must not throw
   */
  receiveQueued(task: () => void): void {
    this.#queues.ofBodies.add(this.#address, task);
  }

  get #address(): string {
    return groupName(this.#slot?.remoteAddress ?? '');
  }

  /** Starts queued requests, one per turn, while there is room. */
  #startNext(): void {
    if (this.#isStarting || !this.#hasRoom()) return;
    this.#isStarting = true;
    this.#queues.ofRequests.add(this.#address, () => {
      this.#isStarting = false;
      if (this.#socket.destroyed) this.#waiting = [];
      if (!this.#hasRoom()) return;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#startNext();
      // The unreadable part may belong to its body.
      this.#refuseInTurn();
    });
  }

  #hasRoom(): boolean {
    const { length } = this.#underWay;
    return length === 0 || (length < MAX_AT_ONCE && !this.#underWay.some(({ hasBegun }) => hasBegun));
  }

  /**
   * Answers a request that the parser cannot read, in the common error format, after the pending responses.
   *
   * @returns the status of the response; undefined if the client is gone
   */
  refuse(error: UnreadableError): number | undefined {
    if (this.#unreadable !== undefined) return undefined;
    // After a request that ends the connection, Node reads nothing more; the response is still pending.
    if (error.code === 'HPE_CLOSED_CONNECTION' && this.#underWay.length > 0) return undefined;
    if (error.code === 'ECONNRESET' || !this.#socket.writable) {
      this.#socket.destroy();
      return undefined;
    }
    const { status, text } = unreadableAnswer(error);
    this.#isEnding = true;
    this.#unreadable = text;
    this.#refuseInTurn();
    return status;
  }

  #refuseInTurn(): void {
    if (this.#unreadable === undefined || this.#waiting.length > 0 || !this.#socket.writable) return;
    const [first, second] = this.#underWay;
    if (second !== undefined) return;
    if (first !== undefined) {
      // Its body is unreadable: this becomes its response, unless it has one.
      if (first.hasWholeRequest) return;
      if (first.hasBegun) {
        first.bodyEnded();
        return;
      }
    }
    this.#socket.end(this.#unreadable);
    this.#socket.setTimeout(LINGER_MS, () => {
      this.#socket.destroy();
    });
  }

  /**
   * Finds out whether a client that has ended its side still waits for its response or is gone. Sends a needless `100 Continue`,
   * which clients skip (RFC 9110 section 15.2): if the client is gone, its system resets the connection. During a response, its
   * next pieces have the same effect; without further pieces, the client is considered gone.
   */
  #lookForClient(turn = 0, before = 0): void {
    const { destroyed, bytesWritten, writableLength } = this.#socket;
    const [first] = this.#underWay;
    if (destroyed || (first === undefined && this.#waiting.length === 0)) return;
    const wait = PROBES_MS[turn] ?? LINGER_MS;
    if (first?.hasBegun !== true) {
      if (turn < PROBES_MS.length) first?.probe();
    } else if (turn >= PROBES_MS.length && bytesWritten === before && writableLength === 0) {
      this.#socket.destroy();
      return;
    }
    setTimeout(() => {
      this.#lookForClient(turn + 1, bytesWritten);
    }, wait).unref();
  }
}
