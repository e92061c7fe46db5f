/** Limits of one listener. `README.md` in this folder lists the differences between engines. */
export interface HttpLimits {
  /**
   * Bytes of bodies held for requests in progress; requests that would exceed it are refused with 503. Default 256 MiB. The
   * effective limit is never too small for one user to have a route's largest body, compressed and decompressed: four times that
   * size with a share of a half.
   */
  readonly maxBodyBytesInFlight: number;
  /** Requests in progress; more are refused with 503. Default 4096. */
  readonly maxRequestsInFlight: number;
  /**
   * Requests that wait on a connection for the responses to earlier requests; at the limit, the connection ends after those
   * responses. Default 100. uWebSockets.js closes the connection if a response is not available immediately.
   */
  readonly maxPipelined: number;
  /** Request line and headers, in bytes; larger ones are refused with 431. Default 32 KiB. */
  readonly maxHeaderBytes: number;
  /**
   * Bytes of a refused body that are read and discarded to keep the connection; if there are more, it is closed. Default 32 MiB.
   */
  readonly maxDiscardBytes: number;
  /** Time for the headers to arrive, in milliseconds. Default 10 000. uWebSockets.js: always 10 s. */
  readonly headersTimeoutMs: number;
  /** Time until a connection without a request is closed, in milliseconds. Default 60 000. uWebSockets.js: always 10 s. */
  readonly idleTimeoutMs: number;
  /**
   * Bytes per second. A body that arrives more slowly for 10 s is answered with 408; a response that is read more slowly for
   * `idleTimeoutMs` is cut off. Default 1 KiB.
   */
  readonly minRate: number;
  /** Open connections. Default 8192. */
  readonly maxConnections: number;
  /** Open connections from one address or one /64 of IPv6 addresses, except loopback. Default 1024. */
  readonly maxConnectionsPerAddress: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_LIMITS: HttpLimits = {
  maxBodyBytesInFlight: 256 * MIB,
  maxRequestsInFlight: 4096,
  maxPipelined: 100,
  maxHeaderBytes: 32 * KIB,
  maxDiscardBytes: 32 * MIB,
  headersTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  minRate: KIB,
  maxConnections: 8192,
  maxConnectionsPerAddress: 1024,
};

/** How long a body may arrive more slowly than the minimum rate. */
export const SLOW_BODY_MS = 10_000;

/** Default limits of a route. */
export const DEFAULT_MAX_BODY_BYTES = MIB;
export const DEFAULT_BODY_TIMEOUT_MS = 30_000;
