const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A backslash ends the host as a slash does, as in browsers. */
const AUTHORITY = /^[^/\\?#]+/;
/** Longer than any host can be. */
const MAX_HEAD = 2048;
const PORT = /:\d+$/;

/**
 * The host name of a URL of any scheme: in lower case, without port and user, IPv6 without its brackets, international names in their ASCII
 * form. A URL without a scheme is understood where it begins with `//`, or with what can only be a host: one with a port or a dot in it. A
 * path, `mailto:` and the like have no host.
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

/** The beginning of a URL up to its path: as much as {@link hostOf} needs. */
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
  // Only for schemes that browsers know are hosts normalized.
  const url = `http://${authority}/`;
  if (authority === '' || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return /[a-z0-9]/.test(host) ? host : undefined;
}
