import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TrustedProxies } from '../component/host.js';
import type { AnswerHead, EngineOptions, Exchange, TakePiece, WatchReader } from './engine.js';
import { NodeBody } from './node-body.js';
import type { NodeConnection } from './node-connection.js';
import { plainRemoteAddress } from './peers.js';
import { MAX_HEADER_FIELDS, singleField } from './request-head.js';
import { itemAt } from '../signal/checked.js';

/** Size of the pieces of a long body; the transfer rate is measured after each. */
const PIECE_BYTES = 64 * 1024;
/** Pieces of a long body per turn of the event loop. */
const PIECES_AT_ONCE = 8;

/** Functions of the response's connection. */
interface Surroundings {
  /** Runs a task in turn with other connections. */
  readonly enqueue: (task: () => void) => void;
  /** Whether nothing more can be sent. */
  readonly isClosed: () => boolean;
  /** Called when the socket buffer is full. */
  readonly onStuck: () => void;
}

/**
 * Sends a long body in pieces, so that the client's speed can be measured and many large responses do not block the event loop.
 */
function endInPieces(
  response: ServerResponse,
  bytes: Uint8Array,
  { enqueue, isClosed, onStuck }: Surroundings,
): void {
  let at = 0;
  // Frequent responses are shorter than this.
  const most = bytes.length > PIECES_AT_ONCE * PIECE_BYTES ? PIECES_AT_ONCE : 1;
  let left = 0;
  const goOn = (): void => {
    left = most;
    // Also requests immediately what the system accepts immediately.
    setImmediate(() => {
      left = 0;
    });
    writeOn();
  };
  const writeOn = (): void => {
    if (isClosed()) return;
    if (at + PIECE_BYTES >= bytes.length) response.end(bytes.subarray(at));
    else if (left === 0) enqueue(goOn);
    else {
      left--;
      if (response.write(bytes.subarray(at, (at += PIECE_BYTES)))) writeOn();
      else {
        response.once('drain', writeOn);
        onStuck();
      }
    }
  };
  goOn();
}

/** `http://host/path`, a form that proxies may send. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/** The raw target of a request line. */
interface Target {
  /** The host named in the target, which takes precedence over the header (RFC 9112 section 3.2.2). */
  readonly authority: string | undefined;
  readonly path: string;
  /** Without the question mark; empty if absent. */
  readonly query: string;
}

/** Parses a target: `/path?query`, or the absolute form. */
function readTarget(url: string): Target {
  const absolute = url.startsWith('/') ? undefined : ABSOLUTE.exec(url);
  const target = absolute === undefined ? url : originForm(absolute?.[2] ?? url);
  const mark = target.indexOf('?');
  return {
    authority: absolute?.[1],
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
  };
}

/** Turns `?query` and an empty target into a path. */
function originForm(target: string): string {
  return target === '' || target.startsWith('?') ? `/${target}` : target;
}

/**
 * Lower-case name of a field that was sent twice, although a request may have it only once.
 *
 * @param raw name, value, name, value …, as sent
 */
function repeatedField(raw: readonly string[]): string | undefined {
  // These names differ in length, so a bit for each length is enough.
  let seen = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = singleField(itemAt(raw, at));
    if (name === undefined) continue;
    const bit = 1 << name.length;
    if ((seen & bit) !== 0) return name;
    seen |= bit;
  }
  return undefined;
}

/** How long to wait for the rest of a refused body before the connection is closed. */
const LINGER_MS = 2000;

/** A request to `node:http` and its response. */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly version: string;
  readonly path: string;
  readonly query: string;
  readonly hasBody: boolean;
  readonly repeated: string | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: NodeConnection;
  readonly #body: NodeBody;
  readonly #watchReader: WatchReader;
  readonly #proxies: TrustedProxies;
  #endWatch: (() => void) | undefined;
  /** The host named in the target, which takes precedence over the header (RFC 9112 section 3.2.2). */
  readonly #authority: string | undefined;
  /** Set while everything but the end of the response is sent. */
  #stopWaiting: (() => void) | undefined;
  #onClosed: ((gone: boolean) => void)[] = [];
  #isClosed = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: NodeConnection,
    { limits, watchReader, proxies }: Pick<EngineOptions, 'limits' | 'watchReader' | 'proxies'>,
    waitsForContinue: boolean,
  ) {
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    this.#watchReader = watchReader;
    this.#proxies = proxies;
    this.method = request.method ?? 'GET';
    this.version = request.httpVersion;
    this.repeated = repeatedField(request.rawHeaders);
    const { authority, path, query } = readTarget(request.url ?? '/');
    this.#authority = authority;
    this.path = path;
    this.query = query;
    this.#body = new NodeBody(request, response, connection, limits, waitsForContinue);
    this.hasBody = this.#body.isThere;
    connection.began(this);
    // Last event of the response, unless the connection ends while the response is queued behind another.
    response.on('close', () => {
      this.connectionClosed();
    });
    response.on('error', ignore);
  }

  get remoteAddress(): string {
    return this.#proxies.clientOf(plainRemoteAddress(this.#request.socket), (name) => this.header(name));
  }

  get localAddress(): string | undefined {
    return this.#request.socket.localAddress;
  }

  get isHeadTooLarge(): boolean {
    return this.#request.rawHeaders.length > 2 * MAX_HEADER_FIELDS;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Whether the request is complete. */
  get hasWholeRequest(): boolean {
    return this.#request.complete;
  }

  header(name: string): string | undefined {
    if (name === 'host' && this.#authority !== undefined) return this.#authority;
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  receive(take: TakePiece): void {
    this.#body.receive(take);
  }

  onClosed(callback: (gone: boolean) => void): void {
    this.#onClosed.push(callback);
  }

  send(head: AnswerHead, body: string | Uint8Array | undefined): void {
    if (this.#isClosed) return;
    const length =
      body === undefined ? undefined : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.#finish(head, length, body);
  }

  sendHead(head: AnswerHead, length: number | undefined): void {
    if (this.#isClosed) return;
    this.#finish(head, length, undefined);
  }

  begin(head: AnswerHead): void {
    if (this.#isClosed) return;
    const close = this.#body.isTooMuch || this.#isToClose(head);
    this.#body.discardRest();
    this.#writeHead(head, undefined, close);
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    return piece.length > PIECE_BYTES ? this.#writeInPieces(piece) : this.#write(piece);
  }

  async #writeInPieces(whole: Uint8Array): Promise<void> {
    for (let at = 0; at < whole.length && !this.#isClosed; at += PIECE_BYTES) {
      if (at > 0 && at % (PIECES_AT_ONCE * PIECE_BYTES) === 0)
        await new Promise<void>((resolve) => {
          this.#connection.writeQueued(resolve);
        });
      await this.#write(whole.subarray(at, at + PIECE_BYTES));
    }
  }

  #write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#isClosed || this.#response.write(piece)) return undefined;
    this.watchWhenStuck();
    return new Promise((resolve) => {
      const goOn = (): void => {
        this.#stopWatching();
        this.#response.off('drain', goOn).off('close', goOn);
        resolve();
      };
      this.#response.once('drain', goOn).once('close', goOn);
    });
  }

  end(): void {
    if (this.#isClosed) return;
    this.#response.end();
    this.watchWhenStuck();
  }

  abort(): void {
    this.#request.socket.destroy();
  }

  /** Called if the body ends before it is complete. */
  bodyEnded(): void {
    if (this.#stopWaiting === undefined) this.abort();
    else this.#stopWaiting();
  }

  /** Sends data that a connected client ignores and that reveals a disconnected one. */
  probe(): void {
    if (!this.#isClosed && !this.hasBegun && this.version === '1.1') this.#response.writeContinue();
  }

  #finish(head: AnswerHead, length: number | undefined, body: string | Uint8Array | undefined): void {
    const close = this.#body.isTooMuch || this.#isToClose(head);
    this.#writeHead(head, length, close);
    this.#body.discardRest();
    if (!close || !this.#body.isComing) {
      if (length !== undefined && length > PIECE_BYTES && body !== undefined) this.#endInPieces(body);
      else this.#response.end(body);
    } else {
      // The client has its whole response now. Closing immediately would reset the connection while the client is still sending,
      // and the response might be lost: wait a while for the rest of the body.
      if (body !== undefined && body.length > 0) this.#response.write(body);
      else this.#response.flushHeaders();
      const end = (): void => {
        clearTimeout(timer);
        this.#stopWaiting = undefined;
        this.#response.end();
      };
      const timer = setTimeout(end, LINGER_MS).unref();
      this.#stopWaiting = end;
      this.#request.once('end', end).once('close', end);
    }
    this.watchWhenStuck();
  }

  #endInPieces(body: string | Uint8Array): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    endInPieces(this.#response, bytes, {
      enqueue: (task) => {
        this.#connection.writeQueued(task);
      },
      isClosed: () => this.#isClosed,
      onStuck: () => {
        this.watchWhenStuck();
      },
    });
  }

  #writeHead(head: AnswerHead, length: number | undefined, close: boolean): void {
    const headers = head.headers;
    if (length !== undefined) headers.push('content-length', String(length));
    if (close) {
      headers.push('connection', 'close');
      this.#connection.endAfterAnswer();
    }
    this.#response.writeHead(head.status, headers);
  }

  /** Node sends nothing after a response that ends the connection, so pending responses would be lost. */
  #isToClose({ closing }: AnswerHead): boolean {
    return closing === 'now' || (closing === 'at_rest' && this.#connection.isLast(this));
  }

  /** Ends a response that the client reads too slowly or not at all. A response queued behind another is not watched. */
  watchWhenStuck(): void {
    const { socket } = this.#request;
    if (this.#endWatch !== undefined || socket.writableLength === 0) return;
    this.#endWatch = this.#watchReader(
      () => socket.bytesWritten - socket.writableLength,
      () => {
        socket.destroy();
      },
    );
  }

  #stopWatching(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  /** Marks that nothing more can be sent. A second call has no effect. */
  connectionClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopWatching();
    const isGone = !this.#response.writableFinished;
    const callbacks = this.#onClosed;
    this.#onClosed = [];
    for (const callback of callbacks) callback(isGone);
    this.#connection.over(this);
  }
}

function ignore(): void {
  // Prevents an unhandled 'error' event; connection errors also arrive as 'close'.
}
