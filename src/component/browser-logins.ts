import type { HttpRequest } from './http.js';
import type { Identity, Scope } from './identity.js';

/** Where browsers find the pages for which they enter. */
export interface LoginSite {
  /** The path of the pages in a browser, from slash to slash. */
  readonly basePath: string;
  /** The address of the pages in a browser, where it is another than that of the listener. */
  readonly publicUrl: URL | null;
  /** Whether the listener itself speaks TLS. */
  readonly secure: boolean;
}

/** What a browser enters with: a key, or the token of a link, which is used up. */
export type LoginProof = { readonly key: string } | { readonly token: string };

/** What of a request says where it comes from. */
export type LoginRequest = Pick<HttpRequest, 'header' | 'method' | 'remoteAddress'>;

/** Lets browsers in by a cookie that stands for a key. */
export interface BrowserLogins {
  /**
   * Logs a browser in. Its earlier session ends.
   *
   * @returns the value of `Set-Cookie`, null where authentication is off, and who it is
   * @throws HttpProblem 401 `unauthenticated` for a proof that does not hold; 403 `forbidden_origin` for pages of others; 429
   *   `rate_limited` instead of 401 after too many failures of one address
   */
  enter(
    request: LoginRequest,
    proof: LoginProof,
  ): Promise<{ readonly cookie: string | null; readonly identity: Identity }>;
  /**
   * Tells whom a link would log in, without using it up.
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
   * Makes a link that lets a browser in once, soon.
   *
   * @param request by which it was asked for; its address is the link's, where no other is configured
   * @throws HttpProblem 403 `forbidden_scope` where a login asks for it: no login makes another one
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
