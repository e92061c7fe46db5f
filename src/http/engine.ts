import type { TrustedProxies } from '../component/host.js';
import type { Connections } from './connections.js';
import type { HttpLimits } from './limits.js';
import type { TlsFiles } from './tls.js';

/** When the connection is to end: with this answer, with the last one in progress on it, or not because of this answer. */
export type Closing = 'now' | 'at_rest' | 'no';

/** How an answer begins. */
export interface AnswerHead {
  readonly status: number;
  /**
   * Name, value, name, value …: lower-case names, printable ASCII values; no length, encoding or connection fields. The engine
   * takes the array over, and adds those.
   */
  readonly headers: string[];
  readonly closing: Closing;
}

/** Receives a piece of a body. The piece is valid only during the call: copy what is kept. */
export type TakePiece = (piece: Uint8Array, isLast: boolean) => void;

/** One request and the means to answer it: all that an engine has to offer. */
export interface Exchange {
  /** As sent: upper case for every method there is. */
  readonly method: string;
  /** The HTTP version: `1.1`, `1.0`, or whatever the request says. */
  readonly version: string;
  /** Raw, without the query. */
  readonly path: string;
  /** Raw, without the question mark; empty if absent. */
  readonly query: string;
  /** Client address: the peer of the connection, or the address reported by a trusted proxy. */
  readonly remoteAddress: string;
  /** The address the client connected to; undefined if the engine does not expose it. */
  readonly localAddress: string | undefined;
  /** Whether request line and headers are larger than the listener takes. */
  readonly isHeadTooLarge: boolean;
  /** The name, in lower case, of a header field that was sent twice although a request has it at most once. */
  readonly repeated: string | undefined;
  /** Whether the head announces a body, even an empty one. */
  readonly hasBody: boolean;
  /** Nothing more can be sent: the connection is closed or the response complete. */
  readonly isClosed: boolean;
  /** The head of the response was sent: no other response is possible. */
  readonly hasBegun: boolean;
  /** @param name lower case */
  header(name: string): string | undefined;

  /**
   * Requests the body. Call it at most once and before the handler returns. An unrequested body, and bytes after the response, are
   * discarded within `maxDiscardBytes`.
   */
  receive(take: TakePiece): void;

  /** Calls back once, at the end of the exchange, with whether the client disconnected before it had the whole response. */
  onClosed(callback: (gone: boolean) => void): void;

  /** Sends a whole answer. @param body undefined: an answer without a body (204, 304). */
  send(head: AnswerHead, body: string | Uint8Array | undefined): void;
  /** Answers a HEAD request. @param length of the body that a GET would return, if known */
  sendHead(head: AnswerHead, length: number | undefined): void;

  /** Begins an answer in pieces. */
  begin(head: AnswerHead): void;
  /**
   * @returns a promise where the client reads too slowly: the next piece has to wait for it. It also resolves at the end of the
   *   exchange.
   */
  write(piece: Uint8Array): Promise<void> | undefined;
  end(): void;

  /** Closes the connection in the middle of the response, so that no client takes it for complete. */
  abort(): void;
}

/**
 * Watches an answer that its client has not taken at once.
 *
 * @param taken bytes that the system has taken so far
 * @param cut called when they were too few
 * @returns a function that stops watching
 */
export type WatchReader = (taken: () => number, cut: () => void) => () => void;

export interface EngineOptions {
  /** Without brackets; empty for all addresses. */
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | undefined;
  readonly limits: HttpLimits;
  readonly connections: Connections;
  readonly proxies: TrustedProxies;
  readonly watchReader: WatchReader;
  /** Called synchronously when the head of a request has arrived. Never throws. */
  readonly onRequest: (exchange: Exchange) => void;
  /** Called when something that is not a request was answered with this status. */
  readonly onUnreadable: (status: number) => void;
}

/** An open port. */
export interface Engine {
  readonly port: number;
  /** Uses this certificate for new connections; open ones keep theirs. @throws Error if the certificate cannot be used */
  replaceTls(files: TlsFiles): void | Promise<void>;
  /** Takes no new connections. */
  stopListening(): void;
  /** Closes all connections, including active ones. */
  close(): void;
}
