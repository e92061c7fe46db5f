import { isIP, isIPv4 } from 'node:net';
import { HttpProblem } from '../component/http.js';
import type { Clock, Logger } from '../component/telemetry.js';
import { BoundedLines } from '../telemetry/bounded-lines.js';
import { isSameOrigin, parseAuthority, plainAddress, type Authority } from './authority.js';
import type { Exchange } from './engine.js';
import { networkInterfaces } from 'node:os';
import type { Micros } from '../signal/time.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';

/** Minimum age before the system is queried again, because any request can trigger a query. */
const MAX_AGE_MICROS = MICROS_PER_SECOND;

/** The addresses of this machine's interfaces, which may change. */
class OwnAddresses {
  readonly #clock: Clock;
  #addresses: ReadonlySet<string> = new Set();
  #readAt: Micros | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param address in the form of {@link plainAddress} */
  has(address: string): boolean {
    // All of 127.0.0.0/8 is this machine, although the system lists only one address of it.
    if (isIPv4(address) && address.startsWith('127.')) return true;
    const now = this.#clock.now();
    if (this.#readAt === undefined || Math.abs(now - this.#readAt) >= MAX_AGE_MICROS) {
      this.#readAt = now;
      this.#addresses = new Set(
        Object.values(networkInterfaces()).flatMap((found) =>
          (found ?? []).map((one) => plainAddress(one.address)),
        ),
      );
    }
    return this.#addresses.has(address);
  }
}

export interface RebindingGuardOptions {
  /** The host of the configured endpoint: a name, an address, or empty for every address. */
  readonly host: string;
  /** Additional names, with or without a port: `jackdaw.example.com`, `*.internal:8443`. */
  readonly hosts: readonly string[];
  /** Whether requests of pages from other origins are refused, because they would not need a key. */
  readonly isSameOriginOnly: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum number of cached `Host` headers. Only names with a `*` produce more than a few. */
const MAX_REMEMBERED = 256;
const LINES_A_MINUTE = 10;
/** Maximum length of client input in a log or a response. */
const MAX_SHOWN = 100;
const EVERY_ADDRESS = new Set(['', '0.0.0.0', '::']);

/**
 * Prevents DNS rebinding: a web page cannot reach a listener by its own host name that suddenly resolves to this machine, because
 * the browser still sends that name as `Host`. It also prevents pages from calling a listener without keys directly.
 */
export class RebindingGuard {
  readonly #options: RebindingGuardOptions;
  readonly #patterns: Authority[];
  readonly #own: OwnAddresses;
  readonly #refused: BoundedLines;
  readonly #known = new Set<string>();
  #address: string;
  /** Undefined until the listener is open. */
  #port: number | undefined;

  constructor(options: RebindingGuardOptions) {
    const { host, hosts, clock, logger } = options;
    this.#options = options;
    this.#patterns = hosts.flatMap(readPattern);
    this.#own = new OwnAddresses(clock);
    this.#address = host;
    this.#refused = new BoundedLines(clock, LINES_A_MINUTE, (count) => {
      logger.warn({ count }, 'Refused more requests because of their Host or Origin; not all are logged.');
    });
  }

  /** @param hosts as in the options */
  alsoAnswerTo(hosts: readonly string[]): void {
    this.#patterns.push(...hosts.flatMap(readPattern));
  }

  /**
   * Sets the address of the listener.
   *
   * @param address an IP address; empty for every address
   */
  listensOn(address: string, port: number): void {
    this.#address = address;
    this.#port = port;
  }

  /** @throws HttpProblem 421 `misdirected_request`, 403 `forbidden_origin` */
  check(exchange: Exchange): void {
    const host = exchange.header('host');
    // HTTP/1.0 clients such as health probes may omit it. Every browser sends it.
    if (host !== undefined && !this.#known.has(host)) this.#checkHost(host, exchange);
    if (this.#options.isSameOriginOnly) this.#checkOrigin(exchange.header('origin'), host, exchange);
  }

  close(): void {
    this.#refused.close();
  }

  #checkHost(text: string, exchange: Exchange): void {
    const authority = parseAuthority(text);
    if (authority === undefined || !this.#isOurs(authority, exchange)) {
      this.#log(
        { host: shown(text) },
        exchange,
        'Refused a request whose Host does not belong to this listener.',
      );
      throw new HttpProblem(
        421,
        'misdirected_request',
        `This listener does not answer to the host ${JSON.stringify(shown(text))}. Use an address it listens on, or add the name to service.http.hosts.`,
      );
    }
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.add(text);
  }

  #isOurs(authority: Authority, exchange: Exchange): boolean {
    const { host, port } = authority;
    // Any port: it may be that of a tunnel.
    if (host === 'localhost') return true;
    if (this.#patterns.some((pattern) => matches(pattern, authority))) return true;
    if (port !== undefined && this.#port !== undefined && port !== this.#port) return false;
    if (host === this.#options.host.toLowerCase()) return true;
    if (isIP(host) === 0) return false;
    if (EVERY_ADDRESS.has(this.#address) && (EVERY_ADDRESS.has(host) || this.#own.has(host))) return true;
    return [this.#address, exchange.localAddress ?? ''].some((address) => plainAddress(address) === host);
  }

  #checkOrigin(text: string | undefined, host: string | undefined, exchange: Exchange): void {
    if (text === undefined || (host !== undefined && isSameOrigin(text, host))) return;
    this.#log({ origin: shown(text) }, exchange, 'Refused a request from a web page of another origin.');
    throw new HttpProblem(
      403,
      'forbidden_origin',
      'Authentication is off, so pages of other origins may not call this listener. Turn auth.enabled on and name the origin in cors.allowed_origins, or leave out the Origin header.',
    );
  }

  #log(fields: object, exchange: Exchange, message: string): void {
    this.#refused.write(() => {
      this.#options.logger.warn({ ...fields, address: exchange.remoteAddress }, message);
    });
  }
}

/**
 * Reads a pattern, whose host may start with `*.`.
 *
 * @returns an empty list for texts that the configuration's schema refuses
 */
function readPattern(text: string): readonly Authority[] {
  const isWild = text.startsWith('*.');
  const authority = parseAuthority(isWild ? text.slice(2) : text);
  if (authority === undefined) return [];
  return [isWild ? { ...authority, host: `*.${authority.host}` } : authority];
}

/** `*.example.com` matches every name below it, at any depth; a pattern without a port matches every port. */
function matches(pattern: Authority, { host, port }: Authority): boolean {
  if (pattern.port !== undefined && pattern.port !== port) return false;
  return pattern.host.startsWith('*.') ? host.endsWith(pattern.host.slice(1)) : host === pattern.host;
}

function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
