import type { Exchange } from './engine.js';
import { QUOTA_HEADERS } from './quota-headers.js';

const MAX_AGE_SECONDS = 7200;
const EXPOSED_HEADERS = ['X-Request-Id', 'Retry-After', 'ETag', ...Object.keys(QUOTA_HEADERS)].join(', ');
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const DEFAULT_HEADERS = 'authorization, content-type, content-encoding, x-request-id';
/** Header names separated by commas, up to a reasonable length. */
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1024}$/;

/**
 * The web pages that may call a listener (the Fetch standard's CORS protocol). Disabled without origins. Credentials are never
 * allowed: cookies are for the service's own pages.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #isAny: boolean;

  /** @param origins such as `https://dash.example.com`, or `*` for any */
  constructor(origins: Iterable<string>) {
    this.#origins = new Set([...origins].map((origin) => origin.toLowerCase().replace(/\/$/, '')));
    this.#isAny = this.#origins.has('*');
  }

  get origins(): readonly string[] {
    return [...this.#origins];
  }

  /** The headers of every response: name, value, name, value … */
  headersFor(exchange: Exchange): readonly string[] {
    if (this.#origins.size === 0) return [];
    // Caches must keep responses for different origins apart, also those without an origin.
    const vary = this.#isAny ? [] : ['vary', 'Origin'];
    const allowed = this.#allowed(exchange);
    return allowed === undefined
      ? vary
      : [...vary, 'access-control-allow-origin', allowed, 'access-control-expose-headers', EXPOSED_HEADERS];
  }

  /** Headers of the response to a preflight request of an allowed origin; undefined for other requests. */
  preflight(exchange: Exchange): Readonly<Record<string, string>> | undefined {
    if (exchange.method !== 'OPTIONS' || exchange.header('access-control-request-method') === undefined) {
      return undefined;
    }
    if (this.#allowed(exchange) === undefined) return undefined;
    const wanted = exchange.header('access-control-request-headers');
    return {
      'access-control-allow-methods': ALLOWED_METHODS,
      'access-control-allow-headers':
        wanted !== undefined && HEADER_NAMES.test(wanted) ? wanted : DEFAULT_HEADERS,
      'access-control-max-age': String(MAX_AGE_SECONDS),
      vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
    };
  }

  /** @returns the value of `Access-Control-Allow-Origin`. */
  #allowed(exchange: Exchange): string | undefined {
    const origin = exchange.header('origin');
    if (origin === undefined) return undefined;
    if (this.#isAny) return '*';
    return this.#origins.has(origin.toLowerCase()) ? origin : undefined;
  }
}
