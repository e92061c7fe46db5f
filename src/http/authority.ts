import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/** The content of a `Host` header, or of an `Origin` after its scheme. */
export interface Authority {
  /** A name in lower case without its final dot, or an address in the form of {@link plainAddress}. */
  readonly host: string;
  readonly port: number | undefined;
}

const AUTHORITY = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,255}))(?::([0-9]{0,5}))?$/i;
const ORIGIN = /^(https?):\/\/([^/]+)$/i;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/** @returns undefined if the text is not `name`, `name:port`, `address:port` or `[IPv6]:port` */
export function parseAuthority(text: string): Authority | undefined {
  const found = AUTHORITY.exec(text);
  if (found === null) return undefined;
  const [, ipv6, name, digits] = found;
  const port = digits === undefined || digits === '' ? undefined : Number(digits);
  if (ipv6 !== undefined) return isIPv6(ipv6) ? { host: plainAddress(ipv6), port } : undefined;
  return name === undefined ? undefined : { host: name.toLowerCase().replace(/\.$/, ''), port };
}

/**
 * Whether an `Origin` matches a request's own `Host`. The schemes are not compared, because TLS may end at a proxy in front of
 * this listener; the scheme only determines the default port.
 */
export function isSameOrigin(origin: string, host: string): boolean {
  const [, scheme, rest] = ORIGIN.exec(origin) ?? [];
  const theirs = rest === undefined ? undefined : parseAuthority(rest);
  const ours = parseAuthority(host);
  if (theirs === undefined || ours === undefined) return false;
  const defaultPort = DEFAULT_PORTS[scheme?.toLowerCase() ?? ''];
  return theirs.host === ours.host && (theirs.port ?? defaultPort) === (ours.port ?? defaultPort);
}

/** An IP address in canonical form for comparison: IPv6 compressed, IPv4-mapped IPv6 as IPv4. */
export function plainAddress(address: string): string {
  const withoutZone = address.replace(/%.*$/, '');
  if (!isIPv6(withoutZone)) return withoutZone;
  const short = new SocketAddress({ address: withoutZone, family: 'ipv6' }).address;
  const mapped = /^::ffff:(.+)$/.exec(short)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? mapped : short;
}
