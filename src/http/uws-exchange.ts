import { STATUS_CODES } from 'node:http';
import { SocketAddress } from 'node:net';
import type { TrustedProxies } from '../component/host.js';
import { itemAt } from '../signal/checked.js';
import type { AnswerHead, EngineOptions, Exchange, TakePiece, WatchReader } from './engine.js';
import type { HttpLimits } from './limits.js';
import { isFramingUnsure, singleField } from './request-head.js';
import type { UwsRequest, UwsResponse } from './uws-module.js';

/** Maximum size that `end` copies; a longer body is sent as the client reads it. */
const MAX_COPIED_BYTES = 64 * 1024;
/**
 * The fixed timeout of uWebSockets.js. Clients that support the header do not send on a connection that is about to be closed.
 */
const KEEP_ALIVE = 'timeout=10';

/** A request to uWebSockets.js and its response. */
export class UwsExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly isHeadTooLarge: boolean;
  readonly hasBody: boolean;
  readonly localAddress = undefined;
  /** uWebSockets.js itself refuses all others. */
  readonly version = '1.1';
  readonly repeated: string | undefined;
  readonly #response: UwsResponse;
  readonly #headers = new Map<string, string>();
  readonly #limits: HttpLimits;
  readonly #watchReader: WatchReader;
  readonly #proxies: TrustedProxies;
  #endWatch: (() => void) | undefined;
  /** Bytes of the response that the system has accepted. */
  #taken = 0;
  readonly #contentLength: number;
  /**
   * Whether no bytes after this request may be parsed as another request. uWebSockets.js continues to read after a response that
   * ends the connection, but closes immediately if more bytes arrive before a response; so the response is sent in a later turn.
   */
  readonly #isLast: boolean;
  #take: TakePiece | undefined;
  #received = 0;
  #hasAllOfBody: boolean;
  #remoteAddress: string | undefined;
  readonly #onClosed: ((gone: boolean) => void)[] = [];
  #onDrained: (() => void) | undefined;
  #isClosed = false;
  #hasBegun = false;

  constructor(
    response: UwsResponse,
    request: UwsRequest,
    { limits, watchReader, proxies }: Pick<EngineOptions, 'limits' | 'watchReader' | 'proxies'>,
  ) {
    this.#response = response;
    this.#limits = limits;
    this.#watchReader = watchReader;
    this.#proxies = proxies;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    let size = this.path.length + this.query.length;
    let repeated: string | undefined;
    const headers = this.#headers;
    request.forEachHeader((name, value) => {
      size += name.length + value.length;
      const known = headers.get(name);
      if (known === undefined) headers.set(name, value);
      else if (singleField(name) === undefined) headers.set(name, `${known}, ${value}`);
      else repeated ??= name;
    });
    this.repeated = repeated;
    this.isHeadTooLarge = size > limits.maxHeaderBytes;
    const length = headers.get('content-length');
    this.#contentLength = headers.has('transfer-encoding') ? Infinity : Number(length ?? 0);
    this.hasBody = headers.has('transfer-encoding') || (length !== undefined && length !== '0');
    this.#hasAllOfBody = !this.hasBody;
    // uWebSockets.js accepts chunks that end in a bare line feed, which a proxy may read as other chunks (RFC 9112 section 11.2).
    // They cannot be detected, but are harmless if no request follows.
    this.#isLast = headers.has('transfer-encoding') || isFramingUnsure(this);
    response.onAborted(() => {
      this.#closed(true);
    });
    if (this.hasBody) {
      response.onData((piece, isLast) => {
        this.#received += piece.byteLength;
        if (isLast) this.#hasAllOfBody = true;
        if (!this.#isClosed) this.#take?.(new Uint8Array(piece), isLast);
      });
    }
  }

  get remoteAddress(): string {
    this.#remoteAddress ??= this.#isClosed
      ? ''
      : this.#proxies.clientOf(readable(this.#response.getRemoteAddressAsText()), (name) =>
          this.header(name),
        );
    return this.#remoteAddress;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  receive(take: TakePiece): void {
    this.#take = take;
  }

  onClosed(callback: (gone: boolean) => void): void {
    this.#onClosed.push(callback);
  }

  send(head: AnswerHead, body: string | Uint8Array | undefined): void {
    if (this.#isLast) {
      setImmediate(() => {
        this.#send(head, body);
      });
    } else this.#send(head, body);
  }

  #send(head: AnswerHead, body: string | Uint8Array | undefined): void {
    if (this.#isClosed) return;
    this.#take = undefined;
    const response = this.#response;
    const close = this.#closesAfter(head);
    response.cork(() => {
      if (body === undefined) {
        this.#writeHead(head, close);
        // uWebSockets.js closes the connection only if the response has a length.
        if (this.#isLast) response.endWithoutBody(0, true);
        else response.endWithoutBody();
      } else if (body.length <= MAX_COPIED_BYTES || this.#isLast) {
        const endsConnection = close && (this.#hasAllOfBody || this.#isLast);
        this.#writeHead(head, close && !endsConnection);
        response.end(body, endsConnection);
      } else {
        this.#writeHead(head, close);
        this.#sendAsTaken(typeof body === 'string' ? Buffer.from(body) : body);
        return;
      }
      this.#closed(false);
    });
  }

  sendHead(head: AnswerHead, length: number | undefined): void {
    if (this.#isClosed) return;
    if (this.#isLast) {
      this.abort();
      return;
    }
    const response = this.#response;
    const close = this.#closesAfter(head);
    response.cork(() => {
      this.#writeHead(head, close);
      // As an argument of `endWithoutBody`, the length would make it wait for a body.
      if (length !== undefined) response.writeHeader('content-length', String(length));
      response.endWithoutBody();
      this.#closed(false);
    });
  }

  begin(head: AnswerHead): void {
    if (this.#isClosed) return;
    this.#take = undefined;
    const close = this.#closesAfter(head);
    this.#response.cork(() => {
      this.#writeHead(head, close);
    });
    this.#response.onWritable((offset) => {
      this.#taken = Math.max(this.#taken, offset);
      this.#stopWatching();
      this.#onDrained?.();
      return true;
    });
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    // An empty piece would end the response.
    if (this.#isClosed || piece.length === 0) return undefined;
    let isTaken = true as boolean;
    this.#response.cork(() => {
      isTaken = this.#response.write(piece);
    });
    if (isTaken || this.isClosed) return undefined;
    this.#watch();
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  end(): void {
    if (this.#isLast) {
      setImmediate(() => {
        this.#end();
      });
    } else this.#end();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#response.cork(() => {
      this.#response.end(undefined, this.#isLast);
    });
    this.#closed(false);
  }

  abort(): void {
    if (!this.#isClosed) this.#response.close();
  }

  #writeHead(head: AnswerHead, close: boolean): void {
    this.#hasBegun = true;
    const response = this.#response;
    response.writeStatus(`${head.status} ${STATUS_CODES[head.status] ?? 'Unknown'}`);
    const { headers } = head;
    for (let at = 0; at + 1 < headers.length; at += 2) {
      response.writeHeader(itemAt(headers, at), itemAt(headers, at + 1));
    }
    if (close) response.writeHeader('connection', 'close');
    else response.writeHeader('keep-alive', KEEP_ALIVE);
  }

  /**
   * Whether this response ends the connection. If the rest of the body is too large, reading stops now: the connection cannot be
   * controlled after a complete response, and closing it immediately would reset it under a client that has not read its response
   * yet. uWebSockets.js closes it after 10 s without data.
   */
  #closesAfter(head: AnswerHead): boolean {
    // uWebSockets.js handles one request of a connection at a time.
    const close = head.closing !== 'no' || this.#isLast;
    if (this.#hasAllOfBody || this.#isLast) return close;
    if (this.#contentLength - this.#received <= this.#limits.maxDiscardBytes) return close;
    this.#response.pause();
    return true;
  }

  #sendAsTaken(body: Uint8Array): void {
    const response = this.#response;
    const [, isComplete] = response.tryEnd(body, body.length);
    if (isComplete) {
      this.#closed(false);
      return;
    }
    this.#watch();
    response.onWritable((offset) => {
      this.#taken = offset;
      if (this.#isClosed) return true;
      const [isTaken, isNowComplete] = response.tryEnd(body.subarray(offset), body.length);
      if (isNowComplete) this.#closed(false);
      return isTaken;
    });
  }

  #watch(): void {
    this.#endWatch ??= this.#watchReader(
      () => this.#taken,
      () => {
        this.abort();
      },
    );
  }

  #stopWatching(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  #closed(gone: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopWatching();
    this.#take = undefined;
    this.#onDrained?.();
    for (const callback of this.#onClosed.splice(0)) callback(gone);
  }
}

const MAPPED_IPV4 = /^0000:0000:0000:0000:0000:ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/;

/**
 * Converts an address: uWebSockets.js gives it unabbreviated, and `::ffff:127.0.0.1` is an IPv4 client on a dual-stack socket.
 */
function readable(text: ArrayBuffer): string {
  const address = Buffer.from(text).toString('latin1');
  const mapped = MAPPED_IPV4.exec(address);
  if (mapped !== null) {
    return mapped
      .slice(1)
      .map((byte) => parseInt(byte, 16))
      .join('.');
  }
  return address.includes(':') ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}
