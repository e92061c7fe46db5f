import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { ConsumeError } from '../../component/consume-error.js';
import { shorten } from '../../component/item-problems.js';
import { int64ToNumber } from '../../otlp/wire/int64.js';
import { retryInfoType, statusType } from '../../otlp/wire/messages.js';
import type { Answer } from './answer.js';
import {
  CONNECT_TIMEOUT,
  CONNECT_TIMEOUT_MS,
  MAX_ANSWER_BYTES,
  reasonOf,
  type Client,
  type ConnectOptions,
  type Post,
} from './http-client.js';

const PREFIX_BYTES = 5;

/** The codes after which OTLP/gRPC allows sending again; RESOURCE_EXHAUSTED only with RetryInfo. */
const RETRYABLE: ReadonlySet<number> = new Set([1, 4, 10, 11, 14, 15]);
const RESOURCE_EXHAUSTED = 8;
/** Codes that blame the configuration: the data is kept until an operator has acted. */
const REMEDIES: ReadonlyMap<number, string> = new Map([
  [7, 'check the key in headers and its scopes on the other side'],
  [12, 'check that the endpoint is an OTLP/gRPC server'],
  [16, 'check the key in headers'],
]);

/** A connection to an OTLP/gRPC server, opened by the first request and again after a failure. */
export class GrpcClient implements Client {
  readonly #options: ConnectOptions;
  #session: ClientHttp2Session | undefined;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  /** @throws ConsumeError for a status other than OK, and if there is no response */
  async post(url: URL, place: string, request: Post): Promise<Answer> {
    const { headers, trailers, body } = await this.#call(url, request).catch((cause: unknown) => {
      throw new ConsumeError(`${place} cannot be reached: ${reasonOf(cause)}`, {
        code: 'overloaded',
        retryable: true,
        cause,
      });
    });
    const status = Number(headers[constants.HTTP2_HEADER_STATUS]);
    const code = trailers['grpc-status'] ?? headers['grpc-status'];
    // A proxy in between answered.
    if (code === undefined && status !== 200)
      return { status, contentType: undefined, retryAfter: undefined, body };
    if (code !== '0')
      throw failure(code === undefined ? 14 : Number(code), { ...headers, ...trailers }, place, request.hide);
    return {
      status: 200,
      contentType: 'application/x-protobuf',
      retryAfter: undefined,
      body: body.subarray(PREFIX_BYTES),
    };
  }

  close(): Promise<void> {
    this.#session?.destroy();
    return Promise.resolve();
  }

  end(): Promise<void> {
    this.#session?.close();
    return Promise.resolve();
  }

  #connection(url: URL): ClientHttp2Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(url.origin, this.#options);
    this.#session = session;
    // Each stream reports the error of its session.
    session.on('error', () => undefined);
    session.setTimeout(CONNECT_TIMEOUT_MS, () => {
      if (session.connecting)
        session.destroy(Object.assign(new Error('the connection timed out'), { code: CONNECT_TIMEOUT }));
    });
    session.unref();
    return session;
  }

  async #call(url: URL, { headers, body, isCompressed, signal }: Post) {
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt8(isCompressed ? 1 : 0, 0);
    prefix.writeUInt32BE(body.length, 1);
    const session = this.#connection(url);
    return new Promise<{
      readonly headers: IncomingHttpHeaders;
      readonly trailers: IncomingHttpHeaders;
      readonly body: Buffer;
    }>((resolve, reject) => {
      const stream = session.request(
        { ':method': 'POST', ':path': url.pathname, te: 'trailers', ...headers },
        signal ? { signal } : {},
      );
      session.ref();
      let answer: IncomingHttpHeaders = {};
      let trailers: IncomingHttpHeaders = {};
      const pieces: Buffer[] = [];
      let length = 0;
      stream.on('response', (received) => (answer = received));
      stream.on('trailers', (received: IncomingHttpHeaders) => (trailers = received));
      stream.on('data', (piece: Buffer) => {
        if (length < MAX_ANSWER_BYTES) pieces.push(piece);
        length += piece.length;
      });
      stream.on('error', (error: Error) => {
        // Without an answer in time, the peer may be gone without notice: the next request opens a new connection.
        if (signal?.aborted === true && this.#session === session) {
          this.#session = undefined;
          session.close();
        }
        reject(error);
      });
      stream.on('close', () => {
        if (answer[constants.HTTP2_HEADER_STATUS] === undefined)
          reject(new Error('the connection was closed'));
        else
          resolve({ headers: answer, trailers, body: Buffer.concat(pieces).subarray(0, MAX_ANSWER_BYTES) });
      });
      stream.end(Buffer.concat([prefix, body]));
    });
  }
}

/** The failure for a code other than OK, as the OTLP specification wants it handled. */
function failure(
  code: number,
  headers: IncomingHttpHeaders,
  place: string,
  hide: (text: string) => string,
): ConsumeError {
  const retryAfterMs = retryDelayOf(headers['grpc-status-details-bin']);
  const remedy = REMEDIES.get(code);
  const text = shorten(hide(decoded(String(headers['grpc-message'] ?? '')).trim()));
  const hint = remedy === undefined ? '' : ` (${remedy})`;
  const message = `${place} answered with gRPC status ${code}${hint}${text === '' ? '' : `: ${text}`}`;
  const isRetryable = RETRYABLE.has(code) || (code === RESOURCE_EXHAUSTED && retryAfterMs !== undefined);
  if (!isRetryable && remedy === undefined)
    return new ConsumeError(message, { code: 'validation_failed', retryable: false });
  return new ConsumeError(message, {
    code: code === RESOURCE_EXHAUSTED ? 'rate_limited' : 'overloaded',
    retryable: true,
    needsOperator: remedy !== undefined,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The delay in a `google.rpc.RetryInfo`; undefined if the header has none or is invalid. */
function retryDelayOf(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  try {
    const { details = [] } = statusType.decode(Buffer.from(header, 'base64'));
    const info = details.find(({ type_url: type }) => type.endsWith('google.rpc.RetryInfo'));
    if (info === undefined) return undefined;
    const { retryDelay } = retryInfoType.decode(info.value);
    return int64ToNumber(retryDelay?.seconds ?? 0) * 1000 + Math.ceil((retryDelay?.nanos ?? 0) / 1e6);
  } catch {
    return undefined;
  }
}
