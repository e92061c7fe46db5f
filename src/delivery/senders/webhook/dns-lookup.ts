import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { Clock } from '../../../component/telemetry.js';

type Family = 4 | 6;

export interface DnsOptions {
  /** The time within which a connection is wanted; the look-up is a part of it. */
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  /** `address:port` of the DNS servers; the system's where absent. */
  readonly servers?: readonly string[] | undefined;
  /** The address families that this machine can connect to. If absent, detected from its interfaces. */
  readonly families?: (() => readonly Family[]) | undefined;
}

/** A DNS query in progress. */
export interface DnsLookup {
  /** IPv4 first. Rejects with the error of `Resolver` where neither family has an address. */
  readonly addresses: Promise<readonly LookupAddress[]>;
  /** Cancels the query: `addresses` rejects, and all resources are released. */
  readonly cancel: () => void;
}

const TRIES = 2;
/** The second try waits twice as long as the first, and Node notices the end of each up to one `timeout` late: 2 + 3. */
const TIMEOUTS_OF_TRIES = 5;
/** Share of the connect time for which one family waits for the other: some DNS servers do not answer IPv6 queries. */
const OTHER_FAMILY_SHARE = 0.1;

/**
 * Resolves a name's addresses by DNS, without the search domains of the system. Not `dns.lookup`: that runs in Node's thread pool,
 * where two slow names hold up all others. Each lookup has a `Resolver` of its own, because `cancel` ends all queries of a resolver;
 * it also reads the system's settings again and queries from another port.
 */
export function lookUpInDns(name: string, options: DnsOptions): DnsLookup {
  const { connectTimeoutMs, clock, servers = new Resolver().getServers() } = options;
  const timeout = Math.ceil(connectTimeoutMs / (TIMEOUTS_OF_TRIES * Math.max(1, servers.length)));
  const resolver = new Resolver({ timeout, tries: TRIES });
  if (options.servers) resolver.setServers(options.servers);
  const cancel = (): void => {
    resolver.cancel();
  };
  return { addresses: bothFamilies(), cancel };

  async function bothFamilies(): Promise<readonly LookupAddress[]> {
    let stopWaiting: (() => void) | undefined;
    const ask = async (family: Family): Promise<LookupAddress[]> => {
      const found = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
      stopWaiting ??= clock.after(connectTimeoutMs * OTHER_FAMILY_SHARE, cancel);
      return found.map((address) => ({ address, family }));
    };
    const families = (options.families ?? familiesOfMachine)();
    const answers = await Promise.allSettled(families.map(ask));
    stopWaiting?.();
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    throw worstOf(
      answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : [])),
    );
  }
}

/** That one family has no addresses means little if the query for the other failed. */
function worstOf(errors: readonly Error[]): Error {
  const isPlain = (error: Error): boolean =>
    'code' in error && (error.code === 'ENODATA' || error.code === 'ENOTFOUND');
  return errors.find((error) => !isPlain(error)) ?? errors[0] ?? new Error('the name has no addresses');
}

/**
 * The families worth asking for. When there are several addresses, Node gives each but the last only a quarter of a second, which
 * is too little for a far receiver if the other family leads nowhere.
 */
function familiesOfMachine(): readonly Family[] {
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address));
  const found = ([4, 6] as const).filter((family) => outer.some((one) => one.family === `IPv${family}`));
  return found.length > 0 ? found : [4, 6];
}
