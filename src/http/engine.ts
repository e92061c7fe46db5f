import type { TrustedProxies } from '../component/host.js';
import type { Connections } from './connections.js';
import type { HttpLimits } from './limits.js';
import type { TlsFiles } from './tls.js';

/** When the connection ends: with this response, with the last response in progress on it, or not because of this response. */
export type Closing = 'now' | 'at_rest' | 'no';

/** Status and headers of a response. */
export interface AnswerHead {
  readonly status: number;
  /**
   * Name, value, name, value …: lower-case names, printable ASCII values; no length, encoding or connection fields. The engine
   * takes ownership of the array and adds those.
   */
  readonly headers: string[];
  readonly closing: Closing;
}

/** Receives a piece of a body. The piece is valid only during the call. */
export type TakePiece = (piece: Uint8Array, isLast: boolean) => void;

/** One request and the functions that answer it: the interface of an engine. */
export interface Exchange {
  /** As sent; known methods are upper case. */
  readonly method: string;
  /** The HTTP version: `1.1`, `1.0`, or any other text of the request. */
  readonly version: string;
  /** Raw, without the query. */
  readonly path: string;
  /** Raw, without the question mark; empty if absent. */
  readonly query: string;
  /** Client address: the peer of the connection, or the address reported by a trusted proxy. */
  readonly remoteAddress: string;
  /** The address the client connected to; undefined if the engine does not expose it. */
  readonly localAddress: string | undefined;
  /** Whether request line and headers are larger than allowed. */
  readonly isHeadTooLarge: boolean;
  /** Lower-case name of a header field that was sent twice, although a request may have it only once. */
  readonly repeated: string | undefined;
  /** Whether the head announces a body, even an empty one. */
  readonly hasBody: boolean;
  /** Whether nothing more can be sent: the connection is closed or the response complete. */
  readonly isClosed: boolean;
  /** Whether the head of the response was sent, so that no other response is possible. */
  readonly hasBegun: boolean;
  /** @param name lower case */
  header(name: string): string | undefined;

  /**
   * Requests the body. Call it at most once and before the handler returns. An unrequested body, and bytes after the response,
   * are discarded up to `maxDiscardBytes`.
   */
  receive(take: TakePiece): void;

  /** Calls back once, at the end of the exchange, with whether the client disconnected before it had the whole response. */
  onClosed(callback: (gone: boolean) => void): void;

  /**
   * Sends a whole response.
   *
   * @param body undefined: a response without a body (204, 304)
   */
  send(head: AnswerHead, body: string | Uint8Array | undefined): void;
  /**
   * Answers a HEAD request.
   *
   * @param length of the body that a GET would return, if known
   */
  sendHead(head: AnswerHead, length: number | undefined): void;

  /** Starts a response in pieces. */
  begin(head: AnswerHead): void;
  /**
   * Sends a piece.
   *
   * @returns a promise if the client reads too slowly: wait for it before the next piece. It also resolves at the end of the
   *   exchange.
   */
  write(piece: Uint8Array): Promise<void> | undefined;
  end(): void;

  /** Closes the connection in the middle of the response, so that no client considers it complete. */
  abort(): void;
}

/**
 * Watches a response that its client reads slowly.
 *
 * @param taken bytes that the system has accepted so far
 * @param cut called if there were too few
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
  /** Called when input that is not a valid request was answered with this status. */
  readonly onUnreadable: (status: number) => void;
}

/** An open port. */
export interface Engine {
  readonly port: number;
  /**
   * Uses this certificate for new connections; open ones keep theirs.
   *
   * @throws Error if the certificate cannot be used
   */
  replaceTls(files: TlsFiles): void | Promise<void>;
  /** Accepts no new connections. */
  stopListening(): void;
  /** Closes every connection, whatever its state. */
  close(): void;
}
