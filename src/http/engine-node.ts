import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { AnswerHead, Engine, EngineOptions, Exchange, TakePiece } from './engine.js';
import type { HttpLimits } from './limits.js';

/** How often Node looks for connections whose headers take too long. */
const CHECK_INTERVAL_MS = 1000;
/** How long the rest of a refused body is waited for before the connection is closed. */
const LINGER_MS = 2000;

/** Listens with `node:http` or `node:https`. @throws Error as `server.listen` gives it, with its `code`. */
export async function openNodeEngine(options: EngineOptions): Promise<Engine> {
  const { host, port, limits, tls } = options;
  const serverOptions: https.ServerOptions = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, limits.headersTimeoutMs),
    // The time for a body is the route's own.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTimeoutMs,
    noDelay: true,
  };
  const server =
    tls === undefined
      ? http.createServer(serverOptions)
      : https.createServer({
          ...serverOptions,
          cert: tls.cert,
          key: tls.key,
          handshakeTimeout: limits.headersTimeoutMs,
        });
  const take = (request: http.IncomingMessage, response: http.ServerResponse, waits: boolean): void => {
    options.onRequest(new NodeExchange(request, response, limits, waits));
  };
  server.on('request', (request, response) => {
    take(request, response, false);
  });
  server.on('checkContinue', (request: http.IncomingMessage, response: http.ServerResponse) => {
    take(request, response, true);
  });
  server.on('clientError', refuseUnreadable);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === '' ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    stopListening: () => {
      server.close();
      server.closeIdleConnections();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Answers what Node's parser refuses in the form of all other errors. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, title, code, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [
          431,
          'Request Header Fields Too Large',
          'headers_too_large',
          'The headers are larger than is taken here.',
        ]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', 'request_timeout', 'The headers did not arrive in time.']
        : [400, 'Bad Request', 'invalid_request', 'The request is no valid HTTP/1.1.'];
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code });
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nconnection: close\r\ncontent-type: application/problem+json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

class NodeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly isHeadTooLarge = false;
  readonly hasBody: boolean;
  readonly #request: http.IncomingMessage;
  readonly #response: http.ServerResponse;
  readonly #limits: HttpLimits;
  #waitsForContinue: boolean;
  #received = 0;
  #isReceiving = false;
  readonly #onClosed: ((gone: boolean) => void)[] = [];
  #isClosed = false;

  constructor(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    limits: HttpLimits,
    waitsForContinue: boolean,
  ) {
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    this.#waitsForContinue = waitsForContinue;
    this.method = request.method ?? 'GET';
    const target = originForm(request.url ?? '/');
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    this.hasBody = coding !== undefined || (length !== undefined && length !== '0');
    response.on('close', () => {
      this.#closed(!response.writableFinished);
    });
    response.on('finish', () => {
      this.#closed(false);
    });
    // Errors of the connection come as 'close' too.
    request.on('error', ignore);
    response.on('error', ignore);
  }

  get remoteAddress(): string {
    // `::ffff:127.0.0.1` is an IPv4 client on a socket for both.
    return this.#request.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? '';
  }

  get localAddress(): string | undefined {
    return this.#request.socket.localAddress;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
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
    this.#request.on('end', () => {
      take(NOTHING, true);
    });
  }

  onClosed(callback: (gone: boolean) => void): void {
    this.#onClosed.push(callback);
  }

  send(head: AnswerHead, body: string | Uint8Array | undefined): void {
    if (this.#isClosed) return;
    const length =
      body === undefined
        ? []
        : ['content-length', String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)];
    this.#finish(head, length, body);
  }

  sendHead(head: AnswerHead, length: number | undefined): void {
    if (this.#isClosed) return;
    this.#finish(head, length === undefined ? [] : ['content-length', String(length)], undefined);
  }

  begin(head: AnswerHead): void {
    if (this.#isClosed) return;
    const mustClose = this.#mustCloseForRest();
    this.#discardRest();
    this.#writeHead({ ...head, close: head.close || mustClose }, []);
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#isClosed || this.#response.write(piece)) return undefined;
    this.#closeWhenStuck();
    return new Promise((resolve) => {
      this.#response.once('drain', resolve).once('close', resolve);
    });
  }

  end(): void {
    if (this.#isClosed) return;
    this.#response.end();
    this.#closeWhenStuck();
  }

  abort(): void {
    this.#request.socket.destroy();
  }

  #finish(head: AnswerHead, length: readonly string[], body: string | Uint8Array | undefined): void {
    const mustClose = this.#mustCloseForRest();
    this.#writeHead({ ...head, close: head.close || mustClose }, length);
    this.#discardRest();
    if (!head.close && !mustClose) {
      this.#response.end(body);
    } else if (this.#request.complete || !this.hasBody || this.#waitsForContinue) {
      this.#response.end(body);
    } else {
      // The client has its whole answer now. Closing at once would reset the connection while it is still sending, and
      // it might never read the answer: the end waits for the rest of the body, a while.
      if (body !== undefined && body.length > 0) this.#response.write(body);
      else this.#response.flushHeaders();
      const end = (): void => {
        clearTimeout(timer);
        this.#response.end();
      };
      const timer = setTimeout(end, LINGER_MS).unref();
      this.#request.once('end', end).once('close', end);
    }
    this.#closeWhenStuck();
  }

  #writeHead(head: AnswerHead, length: readonly string[]): void {
    const close = head.close ? ['connection', 'close'] : [];
    this.#response.writeHead(head.status, [...head.headers, ...length, ...close]);
  }

  /** Whether more of the body is to come than is worth reading to keep the connection. */
  #mustCloseForRest(): boolean {
    if (!this.hasBody || this.#request.complete) return false;
    if (this.#waitsForContinue) return true;
    const length = Number(this.#request.headers['content-length'] ?? Infinity);
    return !(length - this.#received <= this.#limits.maxDiscardBytes);
  }

  #discardRest(): void {
    if (!this.hasBody || this.#request.complete) return;
    let left = this.#limits.maxDiscardBytes;
    this.#request.on('data', (piece: Buffer) => {
      left -= piece.length;
      if (left < 0) this.#request.socket.destroy();
    });
    if (!this.#isReceiving) this.#request.resume();
  }

  /** An answer that the client does not read is not kept for ever. */
  #closeWhenStuck(): void {
    if (!this.#response.writableFinished) this.#request.socket.setTimeout(this.#limits.idleTimeoutMs);
  }

  #closed(gone: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const callback of this.#onClosed.splice(0)) callback(gone);
  }
}

const NOTHING = new Uint8Array();

function ignore(): void {
  // Heard so that it is not thrown.
}

/** `http://host/path`, as proxies may send it, becomes `/path`. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const found = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  const rest = found?.[1] ?? target;
  return rest.startsWith('?') || rest === '' ? `/${rest}` : rest;
}
