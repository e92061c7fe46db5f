import type { Identity } from './identity.js';
import type { Method, Operation } from './operation.js';

/** Inspects a body while it arrives. @returns why no more of it is wanted */
export type InspectBody = (piece: Uint8Array) => HttpProblem | undefined;

export interface HttpRequest {
  /** From `X-Request-Id` if it is well formed, otherwise generated; returned in the same header. */
  readonly id: string;
  readonly method: Method;
  /** As sent, without the query and without a trailing slash. */
  readonly path: string;
  /** Values of the route's `{placeholders}`, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly remoteAddress: string;
  /** @param name lower case */
  header(name: string): string | undefined;
  /**
   * Called by `Host.authenticate` with the sender: the resources of the request count for that user.
   *
   * @throws HttpProblem 429 `rate_limited`, 503 `overloaded`, if the user has too many requests in progress
   */
  identified?(identity: Identity): void;
  /**
   * The whole body, decompressed. Call it once, synchronously in the handler or after awaiting. Large bodies are delivered one per
   * turn of the event loop, alternating between users.
   *
   * @param inspect receives the bytes of uncompressed bodies as they arrive, and may throw to refuse the rest
   * @throws HttpProblem 400 `invalid_encoding`, 408 `request_timeout`, 413 `body_too_large`, 415 `unsupported_media_type` (an unknown
   *   `Content-Encoding`).
   */
  body(inspect?: InspectBody): Promise<Uint8Array>;
  /** Aborted when the client went away. */
  readonly abort: AbortSignal;
  /** Aborted when the listener begins to drain: an answer that has no end of its own has to end now. */
  readonly draining: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. `content-type` defaults to `application/json` when there is a body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An iterable is sent piece by piece, no faster than the client reads. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

export interface Route {
  readonly method: Method;
  /** `/api/v1/agents/{agent_id}/runs`. A trailing slash makes no difference. */
  readonly path: string;
  /**
   * Other paths of the route, without placeholders, for clients that join paths wrongly. If there are any, repeated slashes in these
   * and in its own path count as one.
   */
  readonly aliases?: readonly string[];
  /** Its name in metrics; several routes may share a name. Default: the path. */
  readonly label?: string;
  /** Answered without a key, also under a guarded prefix. Requests to such routes share the part reserved for requests without a user. */
  readonly isPublic?: boolean;
  /** Limit of the body before and after decompression, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Time for the whole body to arrive, in milliseconds. Default 30 000. */
  readonly bodyTimeoutMs?: number;
  /** Its requests and responses, for `openapi.json`; `http/operation.ts` makes a route of it. */
  readonly operation?: Operation;
  /**
   * Words refusals and failures in a format of its own instead of `application/problem+json`, including those of the listener for
   * requests to this path, such as 405 and 503.
   */
  readonly refuse?: (problem: HttpProblem, request: HttpRequest) => HttpResponse;
  /** Called synchronously when the head has arrived, so that it can refuse before the body is read. */
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
}

/** Answers a request for a path that no route has, or leaves it. */
export type UnknownPath = (request: HttpRequest) => HttpResponse | undefined;

/** A shared HTTP endpoint. */
export interface Listener {
  readonly endpoint: string;
  /** Whether it speaks TLS, once every component has started. */
  readonly secure: boolean;
  /** @throws Error when method and path are taken. */
  route(route: Route): void;
  /** Handler for paths without a route, in place of the problem 404; undefined falls back to that. Guards run before it. */
  unknown(answer: UnknownPath): void;
  /** Runs before everything else under a path prefix, including unknown routes; it throws to refuse. */
  guard(prefix: string, check: (request: HttpRequest) => void): void;
  /** All routes so far, in the order they were added. */
  routes(): readonly Route[];
}

/** One rule that a request broke. */
export interface FieldError {
  /** A JSON Pointer into the body (`/traces/0/trace/started_at`) or the name of a query parameter. */
  readonly field: string;
  readonly message: string;
}

/** Thrown by handlers: answered as `application/problem+json` (RFC 9457). */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly status: number;
  /** A stable snake_case word for programs. */
  readonly code: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  /** @param detail one sentence for people: it must never contain a stack, SQL or the path of a file. */
  constructor(
    status: number,
    code: string,
    detail: string,
    options: {
      errors?: readonly FieldError[];
      headers?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}
