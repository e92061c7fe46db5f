import { isIP } from 'node:net';
import type { TrustedProxies } from '../component/host.js';
import { contains, readAddress, readRange } from '../config/address-ranges.js';
import { parseAuthority, plainAddress } from './authority.js';

/** One parameter with its terminator: `for="[2001:db8::1]:4711";proto=https, for=192.0.2.1` (RFC 7239 section 4). */
const PARAMETER = /\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))\s*(;|,|$)/y;

/** @param cidrs ranges from which proxies connect @throws Error that names an invalid range */
export function trustProxies(cidrs: readonly string[]): TrustedProxies {
  const ranges = cidrs.map(readRange);
  const includes = (text: string): boolean => {
    const address = ranges.length === 0 ? null : readAddress(text);
    return address !== null && contains(ranges, address);
  };
  return {
    includes,
    clientOf(peer, header) {
      if (!includes(peer)) return peer;
      const clients = [header('x-forwarded-for')?.split(','), forwardedHops(header('forwarded'))].flatMap(
        (hops) => (hops === undefined ? [] : [clientAmong(hops, includes)]),
      );
      const [client] = clients;
      // A proxy sets one header and passes on the client's other one; if they differ, one may be forged.
      return client !== undefined && clients.every((other) => other === client) ? client : peer;
    },
  };
}

/**
 * Finds the client: each proxy appends the address of its peer, so everything left of the last hop that is not a trusted proxy
 * may be forged.
 *
 * @returns undefined if that hop is not an address
 */
function clientAmong(hops: readonly string[], isTrusted: (address: string) => boolean): string | undefined {
  let client: string | undefined;
  for (const hop of hops.toReversed()) {
    client = addressOf(hop.trim());
    if (client === undefined || !isTrusted(client)) return client;
  }
  return client;
}

/** Accepts `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`; neither names nor `unknown`. */
function addressOf(hop: string): string | undefined {
  const host = isIP(hop) === 0 ? parseAuthority(hop)?.host : plainAddress(hop);
  return host !== undefined && isIP(host) !== 0 ? host : undefined;
}

/** The `for` of each element, empty if missing. An unreadable header gives one hop that is not an address. */
function forwardedHops(header: string | undefined): readonly string[] | undefined {
  if (header === undefined) return undefined;
  const hops: string[] = [];
  let hop = '';
  for (let at = 0; ; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const [, name, quoted, plain = '', end] = PARAMETER.exec(header) ?? [];
    if (name === undefined) return [''];
    if (name.toLowerCase() === 'for') hop = quoted?.replace(/\\(.)/g, '$1') ?? plain;
    if (end === ';') continue;
    hops.push(hop);
    hop = '';
    if (end !== ',') return hops;
  }
}
