import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { ConsumeError } from '../../component/consume-error.js';
import { readPem } from '../../config/client-tls.js';
import type { Answer } from './answer.js';
import type { OtlpHttpConfig } from './config.js';

/** Maximum size read of a response; OTLP responses are short. */
export const MAX_ANSWER_BYTES = 64 * 1024;
export const CONNECT_TIMEOUT_MS = 10_000;
/** Code of the error when a connection takes longer than that. */
export const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

/** One request. */
export interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whether the body is compressed with gzip. */
  readonly isCompressed: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Removes secrets from the server's text. */
  readonly hide: (text: string) => string;
}

/** Options of `net.connect` and `tls.connect`, the same for all connections. */
export interface ConnectOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
  /** Resolves every host name to one address. */
  readonly lookup?: LookupFunction;
}

/** @throws Error that names a TLS file that cannot be read */
export async function connectOptions({ tls }: OtlpHttpConfig): Promise<ConnectOptions> {
  const [ca, cert, key] = await Promise.all([
    readPem('tls.ca_file', tls?.ca_file),
    readPem('tls.cert_file', tls?.cert_file),
    readPem('tls.key_file', tls?.key_file),
  ]);
  return {
    rejectUnauthorized: tls?.insecure_skip_verify !== true,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(tls?.server_name_override === undefined ? {} : { servername: tls.server_name_override }),
  };
}

/** Sends requests to a server, by HTTP or gRPC. */
export interface Client {
  /**
   * Posts once. Redirects are not followed.
   *
   * @param place URL for error messages
   * @throws ConsumeError, retryable, if there is no response
   */
  post(url: URL, place: string, request: Post): Promise<Answer>;
  /** Closes all connections. */
  close(): Promise<void>;
  /** Closes all connections once their requests are finished. */
  end(): Promise<void>;
}

/** Persistent connections to the server. */
export class HttpClient implements Client {
  readonly #agent: Agent;

  /** @param connections at most */
  constructor(options: ConnectOptions, connections: number) {
    this.#agent = new Agent({
      connections,
      pipelining: 1,
      connect: { timeout: CONNECT_TIMEOUT_MS, ...options },
      // The delivery chain limits the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async post(url: URL, place: string, request: Post): Promise<Answer> {
    try {
      const { statusCode, headers, body } = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: request.headers,
        body: request.body,
        signal: request.signal ?? null,
      });
      return {
        status: statusCode,
        contentType: one(headers['content-type']),
        retryAfter: one(headers['retry-after']),
        body: await readStart(body),
      };
    } catch (cause) {
      throw new ConsumeError(`${place} cannot be reached: ${reasonOf(cause)}`, {
        code: 'overloaded',
        retryable: true,
        cause,
      });
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async end(): Promise<void> {
    await this.#agent.close();
  }
}

/** The start of a body. The rest is discarded; if it is long, the connection is closed. */
async function readStart(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(pieces).subarray(0, MAX_ANSWER_BYTES);
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Whether the connection failed before a request could be sent, so that another server may get it. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnreachable);
  if (!(error instanceof Error)) return false;
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || code === CONNECT_TIMEOUT || isUnreachable(error.cause);
}

/** For connection errors, the code is the most useful part; several addresses cause several errors. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error)) return String(cause);
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}
