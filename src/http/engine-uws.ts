import { createServer, SocketAddress } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { AnswerHead, Engine, EngineOptions, Exchange, TakePiece } from './engine.js';
import type { HttpLimits } from './limits.js';
import {
  EXCLUSIVE_PORT,
  type UwsApp,
  type UwsListenSocket,
  type UwsModule,
  type UwsRequest,
  type UwsResponse,
} from './uws-module.js';

/** What `end` copies; a longer body is given out as the client takes it. */
const MAX_COPIED_BYTES = 64 * 1024;
/** Built into uWebSockets.js. Clients that know it do not send on a connection that is about to be closed. */
const KEEP_ALIVE = 'timeout=10';

/** Listens with uWebSockets.js. @throws Error with the `code` of the failure, as `node:net` would give it. */
export async function openUwsEngine(uws: UwsModule, options: EngineOptions): Promise<Engine> {
  const { host, port, limits, tls } = options;
  const app =
    tls === undefined ? uws.App() : uws.SSLApp({ key_file_name: tls.keyFile, cert_file_name: tls.certFile });
  app.any('/*', (response, request) => {
    const exchange = new UwsExchange(response, request, limits);
    if (exchange.isAmbiguous) exchange.abort();
    else options.onRequest(exchange);
  });
  const socket = await listen(app, host, port);
  if (socket === false) {
    await explain(host, port);
    throw new Error('uWebSockets.js could not listen, and does not say why');
  }
  const localPort = uws.us_socket_local_port ?? uws.getSocketPort;
  const closeSocket = uws.us_listen_socket_close ?? uws.closeSocket;
  let isListening = true;
  const stopListening = (): void => {
    if (isListening) closeSocket?.(socket);
    isListening = false;
  };
  return {
    port: localPort?.(socket) ?? port,
    stopListening,
    close: () => {
      stopListening();
      app.close();
    },
  };
}

function listen(app: UwsApp, host: string, port: number): Promise<UwsListenSocket | false> {
  return new Promise((resolve) => {
    if (host === '') app.listen(port, EXCLUSIVE_PORT, resolve);
    else app.listen(host, port, EXCLUSIVE_PORT, resolve);
  });
}

/** uWebSockets.js only says that it failed. Node tells the reason when it tries the same. */
async function explain(host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen({ port, ...(host === '' ? {} : { host }) }, () => {
      probe.close(() => {
        resolve();
      });
    });
  });
}

/** Of these a second one in a request is ignored, as `node:http` does; others are joined. */
const SINGLE = new Set([
  'authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'host',
  'user-agent',
]);

class UwsExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly isHeadTooLarge: boolean;
  readonly hasBody: boolean;
  readonly localAddress = undefined;
  /**
   * No length, or two that differ: uWebSockets.js takes the first, a proxy before it may have taken the other, and what lies
   * between them would be a request that the proxy never saw.
   */
  readonly isAmbiguous: boolean;
  readonly #response: UwsResponse;
  readonly #headers = new Map<string, string>();
  readonly #limits: HttpLimits;
  readonly #contentLength: number;
  #take: TakePiece | undefined;
  #received = 0;
  #hasAllOfBody: boolean;
  #remoteAddress: string | undefined;
  readonly #onClosed: ((gone: boolean) => void)[] = [];
  #onDrained: (() => void) | undefined;
  #isClosed = false;
  #hasBegun = false;

  constructor(response: UwsResponse, request: UwsRequest, limits: HttpLimits) {
    this.#response = response;
    this.#limits = limits;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    let size = this.path.length + this.query.length;
    let isAmbiguous = false as boolean;
    const headers = this.#headers;
    request.forEachHeader((name, value) => {
      size += name.length + value.length;
      const known = headers.get(name);
      if (known === undefined) headers.set(name, value);
      else if (!SINGLE.has(name)) headers.set(name, `${known}, ${value}`);
      else if (name === 'content-length' && known !== value) isAmbiguous = true;
    });
    this.isHeadTooLarge = size > limits.maxHeaderBytes;
    const length = headers.get('content-length');
    this.#contentLength = headers.has('transfer-encoding') ? Infinity : Number(length ?? 0);
    this.isAmbiguous = isAmbiguous || Number.isNaN(this.#contentLength);
    this.hasBody = headers.has('transfer-encoding') || (length !== undefined && length !== '0');
    this.#hasAllOfBody = !this.hasBody;
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
    this.#remoteAddress ??= this.#isClosed ? '' : readable(this.#response.getRemoteAddressAsText());
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
    if (this.#isClosed) return;
    this.#take = undefined;
    const response = this.#response;
    const close = this.#closesAfter(head);
    response.cork(() => {
      if (body === undefined) {
        this.#writeHead(head, close);
        response.endWithoutBody();
      } else if (body.length <= MAX_COPIED_BYTES) {
        const endsConnection = close && this.#hasAllOfBody;
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
    const response = this.#response;
    const close = this.#closesAfter(head);
    response.cork(() => {
      this.#writeHead(head, close);
      // Given to `endWithoutBody` itself, the length would make it wait for a body.
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
    this.#response.onWritable(() => {
      this.#onDrained?.();
      return true;
    });
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    // An empty piece would end the answer.
    if (this.#isClosed || piece.length === 0) return undefined;
    let isTaken = true as boolean;
    this.#response.cork(() => {
      isTaken = this.#response.write(piece);
    });
    if (isTaken || this.isClosed) return undefined;
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  end(): void {
    if (this.#isClosed) return;
    this.#response.cork(() => {
      this.#response.end();
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
      response.writeHeader(headers[at] ?? '', headers[at + 1] ?? '');
    }
    if (close) response.writeHeader('connection', 'close');
    else response.writeHeader('keep-alive', KEEP_ALIVE);
  }

  /**
   * Whether this answer ends the connection. Where more of the body is to come than is worth reading, reading stops now:
   * nothing can be done with the connection once the answer is complete, and closing at once would reset it under a
   * client that has not read its answer yet. uWebSockets.js closes it after its 10 s of silence.
   */
  #closesAfter(head: AnswerHead): boolean {
    if (this.#hasAllOfBody) return head.close;
    if (this.#contentLength - this.#received <= this.#limits.maxDiscardBytes) return head.close;
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
    response.onWritable((offset) => {
      if (this.#isClosed) return true;
      const [isTaken, isNowComplete] = response.tryEnd(body.subarray(offset), body.length);
      if (isNowComplete) this.#closed(false);
      return isTaken;
    });
  }

  #closed(gone: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#take = undefined;
    this.#onDrained?.();
    for (const callback of this.#onClosed.splice(0)) callback(gone);
  }
}

const MAPPED_IPV4 = /^0000:0000:0000:0000:0000:ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/;

/** Addresses come written out in full; `::ffff:127.0.0.1` is an IPv4 client on a socket for both. */
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
