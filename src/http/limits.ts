/** Limits of one listener. `README.md` in this folder lists the differences between engines. */
export interface HttpLimits {
  /**
   * Bytes of bodies held for requests under way; what would pass it is refused with 503. Default 256 MiB, and never less
   * than what lets one user have the largest body that a route takes, compressed and inflated: four of them with a share of a half.
   */
  readonly maxBodyBytesInFlight: number;
  /** Requests under way; more are refused with 503. Default 4096. */
  readonly maxRequestsInFlight: number;
  /**
   * Requests that wait on a connection because those before them are not answered, or their answers not taken; for more the connection
   * ends behind the answers. Default 100. uWebSockets.js: closes the connection where an answer is not there at once.
   */
  readonly maxPipelined: number;
  /** Request line and headers, in bytes; larger ones are refused with 431. Default 32 KiB. */
  readonly maxHeaderBytes: number;
  /** Rest of a refused body that is read and thrown away to keep the connection; with more to come it is closed. Default 32 MiB. */
  readonly maxDiscardBytes: number;
  /** Time for the headers to arrive, in milliseconds. Default 10 000. uWebSockets.js: always 10 s. */
  readonly headersTimeoutMs: number;
  /** A connection without a request is closed, in milliseconds. Default 60 000. uWebSockets.js: always 10 s. */
  readonly idleTimeoutMs: number;
  /**
   * Bytes a second: a body that comes slower for 10 s is answered with 408, an answer that is read slower for `idleTimeoutMs` is cut off.
   * Default 1 KiB.
   */
  readonly minRate: number;
  /** Open connections. Default 8192. */
  readonly maxConnections: number;
  /** Of them from one address, loopback excepted, or one /64 of IPv6 addresses. Default 1024. */
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

/** For how long a body may come more slowly than the least rate. */
export const SLOW_BODY_MS = 10_000;

/** Default limits of a route. */
export const DEFAULT_MAX_BODY_BYTES = MIB;
export const DEFAULT_BODY_TIMEOUT_MS = 30_000;
