import type { LookupAddress } from 'node:dns';
import { lookUpInDns, type DnsLookup, type DnsOptions } from './dns-lookup.js';
import { HostsFile, systemHostsPath } from './hosts-file.js';

/** Resolves all addresses of a name. The signal is aborted when the result is no longer needed. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

export interface ResolveOptions extends DnsOptions {
  /** The system's where absent. */
  readonly hostsPath?: string | undefined;
}

/** RFC 6761 forbids asking for these. */
const LOCALHOST = /^(.+\.)?localhost$/;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

interface SharedLookup extends DnsLookup {
  waiting: number;
}

/**
 * Looks names up in the hosts file, then in DNS. Lookups do not wait for each other, and concurrent lookups of the same name share the
 * result. Nothing is cached: the next connection resolves again.
 *
 * @returns rejects with an error of `Resolver` that has a `code`, and with the signal's reason
 */
export function resolveNames(options: ResolveOptions): Resolve {
  const hosts = new HostsFile(options.hostsPath ?? systemHostsPath(), options.clock);
  const underWay = new Map<string, SharedLookup>();

  return async (hostname, signal) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    if (LOCALHOST.test(name)) return LOOPBACK;
    const known = await hosts.addresses(name);
    signal.throwIfAborted();
    if (known.length > 0) return known;
    return await share(name, signal);
  };

  function share(name: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const lookup = underWay.get(name) ?? start(name);
    lookup.waiting++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason as Error);
        if (--lookup.waiting > 0) return;
        forget(name, lookup);
        lookup.cancel();
      };
      signal.addEventListener('abort', leave, { once: true });
      lookup.addresses.then(resolve, reject).finally(() => {
        signal.removeEventListener('abort', leave);
      });
    });
  }

  function start(name: string): SharedLookup {
    const lookup = { ...lookUpInDns(name, options), waiting: 0 };
    underWay.set(name, lookup);
    const end = (): void => {
      forget(name, lookup);
    };
    lookup.addresses.then(end, end);
    return lookup;
  }

  /** Another look-up may have begun after this one was cancelled. */
  function forget(name: string, lookup: SharedLookup): void {
    if (underWay.get(name) === lookup) underWay.delete(name);
  }
}
