import type { LoginRequest, LoginSite } from '../component/browser-logins.js';
import { HttpProblem } from '../component/http.js';
import { isSameOrigin, parseAuthority } from '../http/authority.js';

const SECONDS_PER_WEEK = 604_800;
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const PREFIXES = ['__Host-', '__Secure-', ''] as const;

/**
 * The value of `Set-Cookie`.
 *
 * @param secret null removes the cookie
 */
export function loginCookie(secret: string | null, request: LoginRequest, site: LoginSite): string {
  const { basePath } = site;
  const isSecure = site.secure || isPublicTls(request, site);
  const prefix = basePath === '/' ? '__Host-' : '__Secure-';
  return [
    `${isSecure ? prefix : ''}${cookieName(request)}=${secret ?? ''}`,
    `Path=${basePath === '/' ? '/' : basePath.slice(0, -1)}`,
    `Max-Age=${secret === null ? 0 : SECONDS_PER_WEEK}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ');
}

/** The secret in the cookie of a request; undefined if missing or malformed. */
export function secretOf(request: Pick<LoginRequest, 'header'>, site: LoginSite): string | undefined {
  const header = request.header('cookie');
  if (header === undefined) return undefined;
  const name = cookieName(request);
  // Over TLS, other sites (a page of a sibling domain, an attacker on plain HTTP) can set a cookie without the prefix.
  const isSecure = site.secure || isPublicHost(request, site);
  const wanted = (isSecure ? PREFIXES.slice(0, -1) : PREFIXES).map((prefix) => `${prefix}${name}`);
  const cookies = new Map(header.split(';').map((pair) => splitPair(pair.trim())));
  const value = wanted.map((known) => cookies.get(known)).find((found) => found !== undefined);
  return value !== undefined && SECRET.test(value) ? value : undefined;
}

/**
 * Prevents pages of other origins from using a browser's cookie. `SameSite` alone is not enough: another port of this machine is
 * the same site.
 *
 * @throws HttpProblem 403 `forbidden_origin`
 */
export function requireOwnPage(request: LoginRequest, site: LoginSite): void {
  if (request.method === 'GET') return;
  if (request.header('x-jackdaw') === '1' && isOwnPage(request, site)) return;
  throw new HttpProblem(
    403,
    'forbidden_origin',
    'A browser session may do this only from the daemon’s own pages: send "X-Jackdaw: 1" from the same origin, or use an API key.',
  );
}

/**
 * Prevents other origins from logging a browser in as another user. Clients other than browsers send no origin.
 *
 * @throws HttpProblem 403 `forbidden_origin`
 */
export function refuseOtherPage(request: LoginRequest, site: LoginSite): void {
  const isBrowser = request.header('sec-fetch-site') !== undefined || request.header('origin') !== undefined;
  if (!isBrowser || isOwnPage(request, site)) return;
  throw new HttpProblem(403, 'forbidden_origin', 'Only pages of this daemon may log in a browser.');
}

/** Over plain HTTP to other machines, browsers send no `Sec-Fetch-Site`, but they send `Origin` with every method except GET. */
function isOwnPage(request: LoginRequest, site: LoginSite): boolean {
  const fetchSite = request.header('sec-fetch-site');
  if (fetchSite !== undefined) return fetchSite === 'same-origin';
  const origin = request.header('origin');
  if (origin === undefined) return false;
  return isSameOrigin(origin, request.header('host') ?? '') || origin === site.publicUrl?.origin;
}

/** Cookies ignore ports, so the port is part of the name. Two daemons on one machine then have separate cookies. */
function cookieName(request: Pick<LoginRequest, 'header'>): string {
  const port = parseAuthority(request.header('host') ?? '')?.port;
  return port === undefined ? 'jackdaw' : `jackdaw_${port}`;
}

/** Whether a request used a public address with TLS. A proxy may replace `Host`, but not `Origin`. */
function isPublicTls(request: LoginRequest, site: LoginSite): boolean {
  const { publicUrl } = site;
  if (publicUrl?.protocol !== 'https:') return false;
  return request.header('origin') === publicUrl.origin || isPublicHost(request, site);
}

function isPublicHost(request: Pick<LoginRequest, 'header'>, { publicUrl }: LoginSite): boolean {
  return publicUrl?.protocol === 'https:' && request.header('host')?.toLowerCase() === publicUrl.host;
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  return at < 0 ? ['', pair] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}
