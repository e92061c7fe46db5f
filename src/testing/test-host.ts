import type { BrowserLogins } from '../component/browser-logins.js';
import type { Host, ListenerOptions } from '../component/host.js';
import {
  HttpProblem,
  type HttpRequest,
  type HttpResponse,
  type Listener,
  type Route,
} from '../component/http.js';
import { SCOPES, type Identity } from '../component/identity.js';
import type { Method } from '../component/operation.js';
import type { Status } from '../component/status.js';

/** The environment that a {@link TestHost} provides. */
export interface TestHostOptions {
  /** Results of `extension`, by id. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** The sender of all requests; a user with every scope if absent. Null: unauthenticated, so `authenticate` throws. */
  readonly identity?: Identity | null;
}

/** A request as a test makes it. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly abort?: AbortSignal;
}

export const TEST_USER = '00000000-0000-4000-8000-00000000000a';

/** The daemon as a component sees it, without one: routes are called instead of served, and statuses kept. */
export class TestHost implements Host {
  /** Statuses reported by the component, in order. */
  readonly statuses: Status[] = [];
  /** By endpoint. */
  readonly announced = new Map<string, string>();
  readonly userLimits = { share: 0.5, storedBytes: 0, enter: () => undefined, spend: () => undefined };
  readonly rejections = { note: () => undefined, of: () => ({ since: 0, items: [], counts: [] }) };
  readonly prices = { offer: () => undefined, leadingTo: () => [] };
  readonly smtp = null;
  readonly daemon = {
    version: 'test',
    startedAt: 0,
    pipelines: [],
    edges: () => [],
    listen: () => null,
    formatConfig: () => '',
  };
  readonly #routes = new Map<string, Route[]>();
  readonly #options: TestHostOptions;

  constructor(options: TestHostOptions = {}) {
    this.#options = options;
  }

  /** All routes that were added, on whichever endpoint. */
  get routes(): readonly Route[] {
    return [...this.#routes.values()].flat();
  }

  extension<T>(id: string, isWanted: (candidate: unknown) => candidate is T): T {
    const found = this.#options.extensions?.[id];
    if (found === undefined) throw new Error(`There is no extension "${id}" in this test`);
    if (!isWanted(found)) throw new Error(`Extension "${id}" is not what is needed`);
    return found;
  }

  listener(endpoint: string, options: ListenerOptions = {}): Listener {
    const routes = this.#routes.get(endpoint) ?? [];
    this.#routes.set(endpoint, routes);
    return {
      endpoint,
      secure: options.tls !== undefined,
      route: (route) => {
        if (routes.some(({ method, path }) => method === route.method && path === route.path))
          throw new Error(`${route.method} ${route.path} is taken`);
        routes.push(route);
      },
      guard: () => undefined,
      unknown: () => undefined,
      routes: () => routes,
    };
  }

  readonly trustedProxies = { includes: () => false, clientOf: (peer: string) => peer };

  authenticate(): Identity {
    const { identity = { userId: TEST_USER, keyId: null, scopes: SCOPES } } = this.#options;
    if (identity === null) throw new HttpProblem(401, 'unauthenticated', 'There is no key.');
    return identity;
  }

  identityNow(): Identity | undefined {
    return this.#options.identity === null ? undefined : this.authenticate();
  }

  /** There are no browsers: logins accept every request that `authenticate` accepts. */
  async browserLogins(): Promise<BrowserLogins> {
    return Promise.resolve({
      enter: async () => Promise.resolve({ cookie: null, identity: this.authenticate() }),
      leave: async () => Promise.resolve(null),
      readLink: async () => Promise.resolve({ name: 'test', email: 'test@localhost', expiresAt: 0 }),
      createLink: async () => Promise.resolve({ url: 'http://test/', expiresAt: 0 }),
      sessionsOf: async () => Promise.resolve([]),
      end: async () => Promise.resolve(),
    });
  }

  async refreshKeys(): Promise<void> {
    await Promise.resolve();
  }

  secretBox() {
    const seal = (secret: string, owner: string) =>
      Buffer.from(JSON.stringify([owner, secret])).toString('base64');
    return {
      seal: async (secret: string, owner: string) => Promise.resolve(seal(secret, owner)),
      open: async (sealed: string, owner: string) => {
        const [sealedFor, secret] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as [string, string];
        if (sealedFor !== owner) throw new Error('The secret was sealed for another owner');
        return Promise.resolve(secret);
      },
    };
  }

  announce(endpoint: string, address: string): void {
    this.announced.set(endpoint, address);
  }

  reportStatus(status: Status): void {
    this.statuses.push(status);
  }

  health() {
    return { phase: 'running', isReady: true, components: [] } as const;
  }

  /**
   * Calls a route as the listener would, without its limits.
   *
   * @param path as the route has it, placeholders filled in, and a query
   * @throws HttpProblem if the handler refuses; Error if there is no such route
   */
  async request(
    method: Method,
    path: string,
    { headers = {}, body = '', abort }: TestRequest = {},
  ): Promise<HttpResponse> {
    const url = new URL(path, 'http://test');
    for (const route of this.routes) {
      const params = route.method === method ? paramsOf(route.path, url.pathname) : undefined;
      if (params === undefined) continue;
      const request: HttpRequest = {
        id: 'test-request',
        method,
        path: url.pathname,
        params,
        query: url.searchParams,
        remoteAddress: '127.0.0.1',
        header: (name) => headers[name],
        body: async () => Promise.resolve(typeof body === 'string' ? new TextEncoder().encode(body) : body),
        abort: abort ?? new AbortController().signal,
        draining: new AbortController().signal,
      };
      return route.handle(request);
    }
    throw new Error(`No route was added for ${method} ${url.pathname}`);
  }
}

function paramsOf(pattern: string, path: string): Record<string, string> | undefined {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const expression = pattern.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '([^/]+)');
  const found = new RegExp(`^${expression}/?$`).exec(path);
  return found
    ? Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i + 1] ?? '')]))
    : undefined;
}
