import type { Exchange } from './engine.js';
import { QUOTA_HEADERS } from './quota-headers.js';

const MAX_AGE_SECONDS = 7200;
const EXPOSED_HEADERS = ['X-Request-Id', 'Retry-After', ...QUOTA_HEADERS].join(', ');
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const DEFAULT_HEADERS = 'authorization, content-type, content-encoding, x-request-id';
/** Names of headers separated by commas, up to a reasonable length. */
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1024}$/;

/**
 * Which web pages may call a listener (the Fetch standard's CORS protocol). Off without origins. Credentials are never
 * allowed: the cookies of browsers are for the service's own pages.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #isAny: boolean;

  /** @param origins `https://dash.example.com`, or `*` for any */
  constructor(origins: Iterable<string>) {
    this.#origins = new Set([...origins].map((origin) => origin.toLowerCase().replace(/\/$/, '')));
    this.#isAny = this.#origins.has('*');
  }

  get origins(): readonly string[] {
    return [...this.#origins];
  }

  /** Name, value, name, value … for every answer. */
  headersFor(exchange: Exchange): readonly string[] {
    if (this.#origins.size === 0) return [];
    // Caches must keep answers for different origins apart, those without an origin included.
    const vary = this.#isAny ? [] : ['vary', 'Origin'];
    const allowed = this.#allowed(exchange);
    return allowed === undefined
      ? vary
      : [...vary, 'access-control-allow-origin', allowed, 'access-control-expose-headers', EXPOSED_HEADERS];
  }

  /** Headers of the answer to a preflight of an allowed origin; undefined if the request is not one. */
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
