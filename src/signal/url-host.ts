import { remembering } from './remembering.js';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A backslash also ends the host, as in browsers. */
const AUTHORITY = /^[^/\\?#]+/;
/** Longer than any host can be. */
const MAX_HEAD = 2048;
const PORT = /:\d+$/;

/**
 * The host name of a URL of any scheme: in lower case, without port and user, IPv6 without brackets, international names in ASCII
 * form. A URL without a scheme is recognized if it starts with `//`, or with text that can only be a host: one with a port or a
 * dot. Paths, `mailto:` and similar URLs have no host.
 *
 * @returns undefined if there is none
 */
export function hostOf(text: string): string | undefined {
  const url = text.trim();
  const scheme = SCHEME.exec(url)?.[0];
  if (scheme !== undefined) return hostOfAuthority(authorityOf(url.slice(scheme.length)));
  if (url.startsWith('//')) return hostOfAuthority(authorityOf(url.slice(2)));
  const authority = authorityOf(url);
  if (authority.includes('@')) return undefined;
  const host = hostOfAuthority(authority);
  const isClear = host !== undefined && (/[.:]/.test(host) || PORT.test(authority));
  return isClear ? host : undefined;
}

/** Size of the cache of addresses. */
const MAX_KNOWN = 4096;

/** The address of a host in the form of {@link hostOf}: `::1` for `[::1]`, `api.example` for `API.example.`. Cached. */
export const hostName = remembering(MAX_KNOWN, (address) => {
  const text = address.trim();
  return hostOf(text) ?? hostOf(`//${text}`) ?? text.toLowerCase();
});

/** The part of a URL before its path, which is enough for {@link hostOf}. For other texts, the part that might be that. */
export function headOfUrl(text: string): string {
  const url = text.trim();
  const scheme = SCHEME.exec(url)?.[0] ?? (url.startsWith('//') ? '//' : '');
  return scheme + authorityOf(url.slice(scheme.length, MAX_HEAD));
}

/** The part before the path. */
function authorityOf(rest: string): string {
  return AUTHORITY.exec(rest)?.[0] ?? '';
}

function hostOfAuthority(authority: string): string | undefined {
  // Hosts are normalized only for schemes that browsers know.
  const url = `http://${authority}/`;
  if (authority === '' || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '');
  return /[a-z0-9]/.test(host) ? host : undefined;
}
