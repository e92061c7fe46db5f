import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { TrustedProxies } from '../component/host.js';

/** An open connection of either engine. */
export interface Connection {
  readonly remoteAddress: string;
  destroy(): void;
}

/** The exhausted limit: of all connections, or of those from one address. */
export type NoRoom = 'total' | 'address';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Proxies act for many clients, so the limit for each address does not apply to them. */
  readonly proxies?: Pick<TrustedProxies, 'includes'> | undefined;
}

interface Group {
  count: number;
  /** Connections of the group without a request; see {@link Connections}. */
  readonly idle: Set<Connection>;
}

/**
 * The connections of a listener, limited in total and for each address. At a limit, the connection idle the longest is closed, so
 * that idle connections and slow headers do not block new clients. A new connection is refused only if all others have a request
 * in progress.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #onRefused: (reason: NoRoom, isNew: boolean) => void;
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<Connection, Group & { readonly name: string }>();
  /** Connections without a request, the longest idle first. */
  readonly #idle = new Set<Connection>();

  /** @param onRefused called for each connection closed at a limit, with whether it was the new one */
  constructor(limits: ConnectionLimits, onRefused: (reason: NoRoom, isNew: boolean) => void) {
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  get count(): number {
    return this.#groupOf.size;
  }

  /**
   * Adds a new connection, which has no request yet.
   *
   * @returns false if it was closed
   */
  enter(connection: Connection): boolean {
    const name = groupName(connection.remoteAddress);
    const group = this.#groups.get(name) ?? { count: 0, idle: new Set() };
    const { maxConnectionsPerAddress, proxies } = this.#limits;
    const isShared = isLoopback(name) || proxies?.includes(connection.remoteAddress) === true;
    const most = isShared ? Infinity : maxConnectionsPerAddress;
    const hasRoom =
      this.#makeRoom('address', group.count < most, group.idle) &&
      this.#makeRoom('total', this.count < this.#limits.maxConnections, this.#idle);
    if (!hasRoom) {
      connection.destroy();
      return false;
    }
    group.count++;
    this.#groups.set(name, group);
    this.#groupOf.set(connection, Object.assign(group, { name }));
    this.idle(connection);
    return true;
  }

  /** Marks a connection that has received a request. */
  busy(connection: Connection): void {
    this.#idle.delete(connection);
    this.#groupOf.get(connection)?.idle.delete(connection);
  }

  /** Marks a connection whose last request has ended. */
  idle(connection: Connection): void {
    const group = this.#groupOf.get(connection);
    if (group === undefined) return;
    group.idle.add(connection);
    this.#idle.add(connection);
  }

  /** Removes a closed connection. May be called twice, and for a connection that was never added. */
  leave(connection: Connection): void {
    const group = this.#groupOf.get(connection);
    if (group === undefined) return;
    this.busy(connection);
    this.#groupOf.delete(connection);
    group.count--;
    if (group.count === 0) this.#groups.delete(group.name);
  }

  #makeRoom(reason: NoRoom, hasRoom: boolean, idle: ReadonlySet<Connection>): boolean {
    if (hasRoom) return true;
    const [longest] = idle;
    this.#onRefused(reason, longest === undefined);
    if (longest === undefined) return false;
    this.leave(longest);
    longest.destroy();
    return true;
  }
}

/** The group to which an address counts: a host owns a whole /64 of IPv6 addresses (RFC 4291 section 2.5.4). */
export function groupName(address: string): string {
  if (!isIPv6(address) || address === '::1') return address;
  const { parts } = ipaddr.IPv6.parse(address.replace(/%.*$/, ''));
  return parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** Local proxies and tools act for many clients, and a local attacker does not need connections to do harm. */
function isLoopback(name: string): boolean {
  return name.startsWith('127.') || name === '::1';
}
