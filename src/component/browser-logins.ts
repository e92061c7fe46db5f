import type { HttpRequest } from './http.js';
import type { Identity, Scope } from './identity.js';

/** Where browsers find the pages for which they enter. */
export interface LoginSite {
  /** The path of the pages in a browser, from slash to slash. */
  readonly basePath: string;
  /** The address of the pages in a browser, if it differs from the listener's. */
  readonly publicUrl: URL | null;
  /** Whether the listener itself speaks TLS. */
  readonly secure: boolean;
}

/** A browser's credential: a key, or the single-use token of a link. */
export type LoginProof = { readonly key: string } | { readonly token: string };

/** The parts of a request that show its origin. */
export type LoginRequest = Pick<HttpRequest, 'header' | 'method' | 'remoteAddress'>;

/** Authenticates browsers with a cookie that represents a key. */
export interface BrowserLogins {
  /**
   * Logs a browser in. Its earlier session ends.
   *
   * @returns the value of `Set-Cookie`, null if authentication is off, and the identity
   * @throws HttpProblem 401 `unauthenticated` for an invalid proof; 403 `forbidden_origin` for pages of other origins; 429
   *   `rate_limited` instead of 401 after too many failures of one address
   */
  enter(
    request: LoginRequest,
    proof: LoginProof,
  ): Promise<{ readonly cookie: string | null; readonly identity: Identity }>;
  /**
   * Returns the identity that a link would log in, without consuming the link.
   *
   * @throws HttpProblem as {@link enter}
   */
  readLink(
    request: LoginRequest,
    token: string,
  ): Promise<{ readonly name: string; readonly email: string; readonly expiresAt: number }>;
  /** Ends the login of a request's cookie, if it has one. @returns the value of `Set-Cookie` that removes it, if it has one */
  leave(request: LoginRequest): Promise<string | null>;
  /**
   * Creates a short-lived link that logs a browser in once.
   *
   * @param request that asked for the link; its address is used if no other is configured
   * @throws HttpProblem 403 `forbidden_scope` if a browser session makes the request: a session cannot create a link
   */
  createLink(
    identity: Identity,
    request: LoginRequest,
  ): Promise<{ readonly url: string; readonly expiresAt: number }>;
  /** The sessions of a user that can be used now, the newest first. */
  sessionsOf(userId: string): Promise<readonly BrowserSession[]>;
  /** Ends sessions: once it resolves, no request is identified by them. */
  end(ids: readonly string[]): Promise<void>;
}

/** A browser that is logged in. Times are in microseconds. */
export interface BrowserSession {
  readonly id: string;
  readonly keyId: string;
  /** Those of its key. */
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly address: string | null;
  readonly userAgent: string | null;
}
