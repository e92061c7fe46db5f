import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { TrustedProxies } from '../../component/host.js';
import { HttpProblem } from '../../component/http.js';
import type { Clock } from '../../component/telemetry.js';
import { Body, connectionClosed } from '../../http/body.js';
import { plainRemoteAddress } from '../../http/peers.js';
import type { SharedUse } from '../../http/shares.js';
import { ANSWER_HEADERS, frame, PREFIX_BYTES, trailersOf, type CallStatus } from './grpc-wire.js';

/** How long a client may take to notice that its call has failed. */
const STOP_MS = 1000;
const NOTHING = new Uint8Array();

export interface GrpcCallOptions {
  /** Before and after decompression. */
  readonly maxMessageBytes: number;
  /** Time limit for the whole message and its end to arrive, and again for the client to read the response, in milliseconds. */
  readonly timeoutMs: number;
  /** Counts the bytes of the message, as received and as inflated. */
  readonly shared: SharedUse;
  readonly proxies: TrustedProxies;
  readonly clock: Clock;
}

/** One unary call on an HTTP/2 stream: its message within limits, and its single response. */
export class GrpcCall {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #options: GrpcCallOptions;
  readonly #abort = new AbortController();
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixLength = 0;
  #body: Body | undefined;
  /** Bytes of the message that have not arrived yet. */
  #left = 0;
  #isAnswered = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: GrpcCallOptions) {
    this.#stream = stream;
    this.#headers = headers;
    this.#options = options;
    // An error of a stream ends it, which `close` reports.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      if (!this.#isAnswered) this.#abort.abort();
    });
  }

  /** Aborted when the client disconnected. */
  get abort(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves when the stream is closed by either side. */
  get closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stream.closed && this.#stream.destroyed) resolve();
      else this.#stream.once('close', resolve);
    });
  }

  /** Empty if the connection is closed. */
  get remoteAddress(): string {
    const { session } = this.#stream;
    if (session === undefined) return '';
    return this.#options.proxies.clientOf(plainRemoteAddress(session.socket), (name) => this.header(name));
  }

  /** @param name lower case */
  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  }

  /**
   * Receives the message. Resolves with the inflated message when the client has ended its side.
   *
   * @throws HttpProblem 400, 408, 413, 415, 503
   */
  receive(): Promise<Uint8Array> {
    const { clock, timeoutMs } = this.#options;
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const settle = (result: () => void): void => {
        if (isOver) return;
        isOver = true;
        cancel();
        result();
      };
      const stop = (problem: unknown): void => {
        settle(() => {
          reject(problem instanceof Error ? problem : new Error(String(problem)));
        });
      };
      const cancel = clock.after(timeoutMs, () => {
        stop(new HttpProblem(408, 'request_timeout', 'The request did not arrive in time; send it again.'));
      });
      stream.on('data', (piece: Buffer) => {
        if (isOver) return;
        try {
          this.#take(piece);
        } catch (problem) {
          stop(problem);
        }
      });
      stream.once('end', () => {
        const body = this.#body;
        if (body === undefined || this.#left > 0)
          stop(broken('The call ended before its message was complete.'));
        else
          settle(() => {
            resolve(body.read());
          });
      });
      stream.once('close', () => {
        stop(connectionClosed());
      });
    });
  }

  /** Releases the counted bytes of the message. */
  release(): void {
    this.#body?.release();
  }

  /** Ends the call with a message. @param headers lower-case names */
  answer(message: Uint8Array, headers: Readonly<Record<string, string>>): void {
    if (!this.#mayAnswer()) return;
    const stream = this.#stream;
    stream.respond({ ...ANSWER_HEADERS, ...headers }, { waitForTrailers: true });
    stream.once('wantTrailers', () => {
      if (!stream.destroyed) stream.sendTrailers({ 'grpc-status': '0' });
    });
    stream.end(frame(message));
    // A client that does not read its response must not hold the call.
    this.#closeAfter(this.#options.timeoutMs, constants.NGHTTP2_CANCEL);
  }

  /** Ends the call with a status, even if part of the message is still arriving. */
  fail(status: CallStatus): void {
    if (!this.#mayAnswer()) return;
    this.#stream.respond({ ...ANSWER_HEADERS, ...trailersOf(status) }, { endStream: true });
    this.#stop();
  }

  /** Ends a request that is not a gRPC call. @param status of HTTP */
  refuse(status: number): void {
    if (!this.#mayAnswer()) return;
    this.#stream.respond({ ':status': status }, { endStream: true });
    this.#stop();
  }

  #mayAnswer(): boolean {
    if (this.#isAnswered || this.#stream.destroyed || this.#stream.closed) return false;
    this.#isAnswered = true;
    return true;
  }

  /**
   * The response was sent. Further input is discarded for a moment, so that the client can read the response and stop: closing a
   * stream drops the unsent part of it.
   */
  #stop(): void {
    this.#stream.resume();
    this.#closeAfter(STOP_MS, constants.NGHTTP2_NO_ERROR);
  }

  #closeAfter(ms: number, code: number): void {
    const stream = this.#stream;
    const cancel = this.#options.clock.after(ms, () => {
      stream.close(code);
    });
    stream.once('close', cancel);
  }

  /** @throws HttpProblem */
  #take(piece: Buffer): void {
    let rest = piece;
    if (this.#prefixLength < PREFIX_BYTES) {
      const taken = rest.copy(this.#prefix, this.#prefixLength);
      this.#prefixLength += taken;
      if (this.#prefixLength < PREFIX_BYTES) return;
      rest = rest.subarray(taken);
      this.#begin(this.#prefix.readUInt8(0), this.#prefix.readUInt32BE(1));
    }
    if (rest.length === 0) return;
    if (rest.length > this.#left) throw broken('The call contains more than one message.');
    this.#left -= rest.length;
    this.#give(rest);
  }

  #begin(flag: number, length: number): void {
    const { maxMessageBytes: maxBytes, timeoutMs, shared, clock } = this.#options;
    const encoding = this.header('grpc-encoding') ?? 'identity';
    if (flag > 1 || (flag === 1 && encoding === 'identity'))
      throw broken('The compression flag must be 0, or 1 with an encoding.');
    this.#left = length;
    this.#body = new Body({
      contentLength: length,
      contentEncoding: flag === 1 ? encoding : undefined,
      maxBytes,
      timeoutMs,
      budget: shared,
      clock,
    });
    if (this.#body.problem !== undefined) throw this.#body.problem;
    if (length === 0) this.#give(NOTHING);
  }

  #give(piece: Uint8Array): void {
    this.#body?.take(piece, this.#left === 0);
    if (this.#body?.problem !== undefined) throw this.#body.problem;
  }
}

function broken(message: string): HttpProblem {
  return new HttpProblem(400, 'invalid_encoding', message);
}
