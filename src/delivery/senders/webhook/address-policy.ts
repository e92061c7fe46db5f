import ipaddr from 'ipaddr.js';
import {
  ADDRESS_BITS,
  contains,
  readAddress,
  readRange,
  type Address,
  type AddressRange,
} from '../../../config/address-ranges.js';

/** IPv4 ranges without public hosts (IANA's registry of special purposes), and one public host that is not for users. */
const NOT_PUBLIC_IPV4: readonly string[] = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // behind carriers' NAT; Alibaba's metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's wire server
  '169.254.0.0/16', // link-local; most clouds' metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; Oracle's metadata
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

/** The only part of IPv6 with public hosts; loopback, private, link-local, multicast, mapped and NAT64 addresses are outside. */
const PUBLIC_IPV6 = '2000::/3';

const NOT_PUBLIC_IPV6: readonly string[] = [
  '2001::/23', // Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];

/** Metadata endpoints of clouds, which expose secrets of the machine. Only the exact address in the allow list makes one reachable. */
const METADATA: readonly string[] = [
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure
  '169.254.169.254/32', // AWS, Google, Azure, Oracle and others
  '169.254.170.2/32', // AWS ECS
  '169.254.170.23/32', // AWS EKS
  '192.0.0.192/32', // Oracle
  'fd00:ec2::23/128', // AWS EKS
  'fd00:ec2::254/128', // AWS
  'fd20:ce::254/128', // Google
  'fe80::a9fe:a9fe/128', // OpenStack
];

/** Translates to the IPv4 address in its last 32 bits. */
const NAT64_PREFIX = '64:ff9b::/96';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

const notPublic = [...NOT_PUBLIC_IPV4, ...NOT_PUBLIC_IPV6].map(readRange);
const publicIpv6 = [readRange(PUBLIC_IPV6)];
const metadata = METADATA.map(readRange);
const nat64 = [readRange(NAT64_PREFIX)];

/**
 * Which addresses users may have requests sent to: public ones, and those that the operator allows. Metadata services stay out of
 * reach even within a wider range of the allow list: they must be listed by their exact address.
 */
export class AddressPolicy {
  readonly #allowed: readonly AddressRange[];
  /** Single addresses, listed with the full prefix length of their family. */
  readonly #exact: ReadonlySet<string>;
  /** Whether any private address is allowed. */
  readonly allowsPrivate: boolean;

  /**
   * @param allowCidrs such as `10.0.0.0/8` and `fd00::/8`
   * @throws Error that names an entry that is not a range
   */
  constructor(allowCidrs: readonly string[] = []) {
    this.#allowed = allowCidrs.map(readRange);
    this.#exact = new Set(
      this.#allowed
        .filter(([address, prefix]) => prefix === ADDRESS_BITS[address.kind()])
        .map(([address]) => address.toString()),
    );
    this.allowsPrivate = allowCidrs.length > 0;
  }

  /** @param address in any form; a text that is not an address is not allowed. */
  allows(address: string): boolean {
    const found = readAddress(address);
    return found !== null && this.#allows(found);
  }

  /** Whether names of the machine itself can lead anywhere. */
  allowsLoopback(): boolean {
    return LOOPBACK.some((address) => this.allows(address));
  }

  #allows(address: Address): boolean {
    if (this.#exact.has(address.toString())) return true;
    if (contains(metadata, address)) return false;
    if (contains(this.#allowed, address))
      return !contains(nat64, address) || this.#allows(embeddedIpv4(address));
    return !contains(notPublic, address) && (address.kind() === 'ipv4' || contains(publicIpv6, address));
  }
}

/** The last 32 bits of an IPv6 address. */
function embeddedIpv4(address: Address): Address {
  return ipaddr.fromByteArray(address.toByteArray().slice(-4));
}
