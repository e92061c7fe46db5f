import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and the length of its prefix. */
export type AddressRange = readonly [Address, number];

/** The length of a whole address. */
export const ADDRESS_BITS: Readonly<Record<ReturnType<Address['kind']>, number>> = { ipv4: 32, ipv6: 128 };

/** @returns null if the text is not an address, or one with a zone. IPv6 of the form `::ffff:…` counts as IPv4. */
export function readAddress(text: string): Address | null {
  // ipaddr.js alone would also accept IPv4 in octal, in hexadecimal and with fewer parts.
  if (isIP(text) === 0 || text.includes('%')) return null;
  // `::8.8.8.8` is an address of IPv6; ipaddr.js alone would take it for `::ffff:8.8.8.8`.
  return ipaddr.process(text.replace(/^::(?=\d+\.)/, '0::'));
}

/** @returns null if the text is not an address and the length of its prefix, such as `10.0.0.0/8` or `fd00::/8` */
export function parseRange(text: string): AddressRange | null {
  const [, host = '', length = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = readAddress(host);
  const prefix = Number(length);
  // `::ffff:10.0.0.0/104` means something else in each family.
  const isMapped = address?.kind() === 'ipv4' && host.includes(':');
  return address === null || isMapped || length === '' || prefix > ADDRESS_BITS[address.kind()]
    ? null
    : [address, prefix];
}

/** @throws Error that names a text that is not a range */
export function readRange(text: string): AddressRange {
  const range = parseRange(text);
  if (range !== null) return range;
  throw new Error(
    `"${text}" is not a range of addresses: write an address and the length of its prefix, as in 10.0.0.0/8 or fd00::/8`,
  );
}

/** Whether an address is in one of the ranges. A range of one family has no address of the other. */
export function contains(ranges: readonly AddressRange[], address: Address): boolean {
  return ranges.some(([start, prefix]) => start.kind() === address.kind() && address.match(start, prefix));
}
