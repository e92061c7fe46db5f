import type { Socket } from 'node:net';
import { groupName, type Connection, type Connections } from './connections.js';
import type { EngineOptions } from './engine.js';
import type { Turns } from './turns.js';
import { unreadableAnswer, type UnreadableError } from './unreadable.js';

/** How long to wait for the end of a connection, once everything has been sent. */
const LINGER_MS = 2000;
/**
 * When to check for a client that has ended its side, each time after the one before. Some accept no more than five answers of
 * this kind.
 */
const PROBES_MS = [100, LINGER_MS];
/** How many requests of a connection are worked on side by side, as long as none of them is answered. */
const MAX_AT_ONCE = 16;
/**
 * How many requests after the last one are read and thrown away, so that closing does not reset the connection under its answer.
 */
const MAX_DROPPED = 1000;

/** Work of connections that is done in turn, by address. */
export interface ConnectionTurns {
  readonly ofRequests: Turns;
  readonly ofPieces: Turns;
  readonly ofBodies: Turns;
}

/** A request in progress on a connection. */
interface UnderWay {
  /** Whether its answer has begun. */
  readonly hasBegun: boolean;
  /** Whether all of the request has come. */
  readonly hasWholeRequest: boolean;
  watchWhenStuck(): void;
  /** No more of its body will come. */
  bodyEnded(): void;
  /** Makes the system check whether the client is there. */
  probe(): void;
  connectionClosed(): void;
}

/** A connection of `node:http`: the requests in progress on it, and how it ends. */
export class NodeConnection {
  readonly #socket: Socket;
  /** Its place in the table of all connections; undefined where it is closed already. */
  readonly #slot: Connection | undefined;
  readonly #table: Connections;
  /** Requests that are not over, in the order in which they came. */
  readonly #underWay: UnderWay[] = [];
  /** Functions that start the requests behind these, in their order. */
  #waiting: (() => void)[] = [];
  /** Whether the next of them is waiting for its turn. */
  #isStarting = false;
  readonly #maxWaiting: number;
  readonly #turns: ConnectionTurns;
  #dropped = 0;
  #isEnding = false;
  #unreadable: string | undefined;

  constructor(
    socket: Socket,
    slot: Connection | undefined,
    { connections, limits }: Pick<EngineOptions, 'connections' | 'limits'>,
    turns: ConnectionTurns,
  ) {
    this.#socket = socket;
    this.#slot = slot;
    this.#table = connections;
    this.#maxWaiting = limits.maxPipelined;
    this.#turns = turns;
    socket.once('end', () => {
      this.#lookForClient();
    });
    socket.once('close', () => {
      this.#waiting = [];
      // Node reports only the first answer.
      for (const exchange of [...this.#underWay]) exchange.connectionClosed();
    });
  }

  /**
   * A request has come. It is started at once, or, behind others, in turn with those of other connections and when those before
   * it leave room: while an answer waits for its reader no other is made, so that what is kept for a reader is one answer and not
   * a hundred.
   *
   * @returns false where too many wait
   */
  take(start: () => void): boolean {
    if (this.#isEnding) {
      // It came after one that ends the connection, so nobody will ever see its answer.
      if (++this.#dropped > MAX_DROPPED) this.#socket.pause();
      return true;
    }
    if (this.#waiting.length === 0 && this.#underWay.length === 0) {
      start();
      return true;
    }
    // Requests for which there is room only wait for their turn.
    const room = Math.max(0, MAX_AT_ONCE - this.#underWay.length);
    if (this.#waiting.length >= this.#maxWaiting + room) return false;
    this.#waiting.push(start);
    this.#startNext();
    return true;
  }

  /** The answer that is about to be sent ends the connection. */
  endAfterAnswer(): void {
    this.#isEnding = true;
    this.#waiting = [];
  }

  /** Whether no request that came after it is being worked on. */
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
    // It goes out only now.
    if (at === 0 && first?.hasBegun === true) first.watchWhenStuck();
    if (this.#waiting.length > 0) this.#startNext();
    else if (this.#underWay.length === 0 && this.#slot !== undefined) this.#table.idle(this.#slot);
    this.#refuseInTurn();
  }

  /** Writes more of a large answer, in turn with other connections. @param task must not throw */
  writeInTurn(task: () => void): void {
    this.#turns.ofPieces.add(this.#address, task);
  }

  /** Receives more of a large body, in the same way. @param task must not throw */
  receiveInTurn(task: () => void): void {
    this.#turns.ofBodies.add(this.#address, task);
  }

  get #address(): string {
    return groupName(this.#slot?.remoteAddress ?? '');
  }

  /** Starts waiting requests, one in each turn, while there is room. */
  #startNext(): void {
    if (this.#isStarting || !this.#hasRoom()) return;
    this.#isStarting = true;
    this.#turns.ofRequests.add(this.#address, () => {
      this.#isStarting = false;
      if (this.#socket.destroyed) this.#waiting = [];
      if (!this.#hasRoom()) return;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#startNext();
      // The part that could not be read may be its body.
      this.#refuseInTurn();
    });
  }

  #hasRoom(): boolean {
    const { length } = this.#underWay;
    return length === 0 || (length < MAX_AT_ONCE && !this.#underWay.some(({ hasBegun }) => hasBegun));
  }

  /**
   * Answers what the parser does not understand in the form of all other errors, after the answers that are still to come.
   *
   * @returns the status that is answered; undefined where nobody is there to answer
   */
  refuse(error: UnreadableError): number | undefined {
    if (this.#unreadable !== undefined) return undefined;
    // After a request that closes the connection Node reads nothing more; its answer is still to come.
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
      // Its body cannot be read: this becomes its answer, unless it has one.
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
   * The client sends nothing more. It may still be there and wait for its answer, or be gone: a needless `100 Continue`, which
   * every client skips (RFC 9110 section 15.2), makes the system of one that is gone reset the connection, and another one is told so.
   * In the middle of an answer its next pieces do the same; where none come, the client is taken for gone.
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
