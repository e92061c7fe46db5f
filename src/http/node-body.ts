import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TakePiece } from './engine.js';
import type { HttpLimits } from './limits.js';
import type { NodeConnection } from './node-connection.js';

/**
 * Bytes of a body read per turn: libuv reads up to 2 MiB from one connection before it serves others, so a few large bodies would
 * make a turn take tens of milliseconds.
 */
const RECEIVED_AT_ONCE = 128 * 1024;
const NOTHING = new Uint8Array();

/** The body of a request to `node:http`, which is received or discarded. */
export class NodeBody {
  /** Whether the request has a body. */
  readonly isThere: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: NodeConnection;
  readonly #limits: HttpLimits;
  #waitsForContinue: boolean;
  #received = 0;
  #isReceiving = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: NodeConnection,
    limits: HttpLimits,
    waitsForContinue: boolean,
  ) {
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    this.#limits = limits;
    this.#waitsForContinue = waitsForContinue;
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    this.isThere = coding !== undefined || (length !== undefined && length !== '0');
  }

  /** Whether more of the body is expected; false while the client waits for `100 Continue`. */
  get isComing(): boolean {
    return this.#isLeft && !this.#waitsForContinue;
  }

  /** Whether the rest of the body is too large to read just to keep the connection. */
  get isTooMuch(): boolean {
    if (!this.#isLeft) return false;
    if (this.#waitsForContinue) return true;
    const length = Number(this.#request.headers['content-length'] ?? Infinity);
    return !(length - this.#received <= this.#limits.maxDiscardBytes);
  }

  receive(take: TakePiece): void {
    this.#isReceiving = true;
    if (this.#waitsForContinue) {
      this.#waitsForContinue = false;
      this.#response.writeContinue();
    }
    this.#request.on('data', (piece: Buffer) => {
      this.#received += piece.length;
      take(piece, false);
    });
    this.#receiveQueued();
    this.#request.on('end', () => {
      take(NOTHING, true);
    });
  }

  /** Reads and discards the rest of the body, up to a limit. */
  discardRest(): void {
    if (!this.#isLeft) return;
    let left = this.#limits.maxDiscardBytes;
    this.#request.on('data', (piece: Buffer) => {
      left -= piece.length;
      if (left < 0) this.#request.socket.destroy();
    });
    if (!this.#isReceiving) this.#receiveQueued();
  }

  get #isLeft(): boolean {
    return this.isThere && !this.#request.complete;
  }

  /** Receives the body; after each large part, other connections continue first. */
  #receiveQueued(): void {
    let taken = 0;
    this.#request.on('data', (piece: Buffer) => {
      if ((taken += piece.length) < RECEIVED_AT_ONCE || this.#request.complete) return;
      taken = 0;
      this.#request.pause();
      this.#connection.receiveQueued(() => {
        this.#request.resume();
      });
    });
  }
}
