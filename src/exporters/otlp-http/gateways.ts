import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Settings } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import { highest, seedOf } from '../../delivery/rendezvous.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { OtlpHttpConfig } from './config.js';
import { reasonOf, type Client } from './http-client.js';

/** All addresses of a host name. */
export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

/** Time after which a gateway that could not be connected to is tried again. */
const DOWN_MS = 10_000;

/** By the system, with its search domains: a service in Kubernetes may be named without its domain. */
export const resolveHost: ResolveHost = (host) => lookup(host, { all: true });

export interface Gateway {
  readonly address: string;
  readonly seed: number;
  readonly client: Client;
  downUntil: Micros;
}

/** The gateways behind one host name, each with its own connections. */
export class Gateways {
  readonly #settings: Settings<OtlpHttpConfig>;
  readonly #host: string;
  readonly #intervalMs: number;
  readonly #resolve: ResolveHost;
  readonly #open: (lookup: LookupFunction) => Client;
  readonly #log: SparseLog;
  #gateways: readonly Gateway[] = [];
  #problem = 'it was not looked up yet';
  #cancelTimer: () => void = () => undefined;
  #endGauges: readonly (() => void)[] = [];
  #hasEnded = false;

  /** @param open creates a client whose connections go to the address of `lookup` */
  constructor(
    settings: Settings<OtlpHttpConfig>,
    resolve: ResolveHost,
    open: (lookup: LookupFunction) => Client,
  ) {
    const { endpoint = '', balance } = settings.config;
    this.#settings = settings;
    this.#host = new URL(endpoint).hostname;
    this.#intervalMs = durationMs(balance?.interval ?? '5s');
    this.#resolve = resolve;
    this.#open = open;
    this.#log = new SparseLog(settings.logger, settings.clock, 60_000);
  }

  /** Looks the addresses up once, and then at the interval. A failure is logged. */
  async start(): Promise<void> {
    const { meter, clock, id } = this.#settings;
    const isDown = ({ downUntil }: Gateway): boolean => downUntil > clock.now();
    const gauge = (state: string, count: () => number) =>
      meter.gauge(
        'otlp_http_gateways',
        {
          description: 'Addresses of the host in endpoint by state (up, down), with balance.',
          labelNames: ['exporter', 'state'],
        },
        count,
        { exporter: id, state },
      );
    this.#endGauges = [
      gauge('up', () => this.#gateways.filter((each) => !isDown(each)).length),
      gauge('down', () => this.#gateways.filter(isDown).length),
    ];
    await this.#update();
  }

  async close(): Promise<void> {
    this.#hasEnded = true;
    this.#cancelTimer();
    for (const end of this.#endGauges) end();
    await Promise.all(this.#gateways.map(({ client }) => client.close()));
    this.#gateways = [];
  }

  /** Why there are no gateways. */
  get problem(): string {
    return `no address of ${this.#host} is known: ${this.#problem}`;
  }

  /**
   * The gateway of each key: the one with the highest weight of those that are not down, or of all if all are.
   *
   * @param tried gateways that are left out
   * @returns undefined if none is left
   */
  chooser(tried: ReadonlySet<Gateway>): ((key: string) => Gateway | undefined) | undefined {
    const left = this.#gateways.filter((gateway) => !tried.has(gateway));
    const now = this.#settings.clock.now();
    const up = left.filter(({ downUntil }) => downUntil <= now);
    const candidates = up.length > 0 ? up : left;
    return candidates.length === 0 ? undefined : (key) => candidates[highest(key, candidates)];
  }

  noteDown(gateway: Gateway): void {
    gateway.downUntil = this.#settings.clock.now() + DOWN_MS * MICROS_PER_MS;
  }

  async #update(): Promise<void> {
    try {
      const found = await this.#resolve(this.#host);
      if (this.#hasEnded) return;
      // A server with addresses of both families counts once, and not every daemon can reach IPv6.
      const family = found.some((each) => each.family === 4) ? 4 : 6;
      const all = new Set(found.flatMap((each) => (each.family === family ? [each.address] : [])));
      if (all.size > 0) this.#use([...all].sort(), family);
      else this.#keep('it has no addresses');
    } catch (error) {
      this.#keep(reasonOf(error));
    }
    if (!this.#hasEnded)
      this.#cancelTimer = this.#settings.clock.after(this.#intervalMs, () => void this.#update());
  }

  #use(addresses: readonly string[], family: number): void {
    const before = this.#gateways;
    this.#gateways = addresses.map((address) => {
      const known = before.find((gateway) => gateway.address === address);
      if (known !== undefined) return known;
      const toAddress: LookupFunction = (_host, { all }, callback) => {
        if (all === true) callback(null, [{ address, family }]);
        else callback(null, address, family);
      };
      return { address, seed: seedOf(address), client: this.#open(toAddress), downUntil: 0 };
    });
    const gone = before.filter((gateway) => !this.#gateways.includes(gateway));
    for (const { client } of gone) void client.end().catch(() => undefined);
    if (gone.length > 0 || this.#gateways.length > before.length)
      this.#settings.logger.info({ addresses }, `The gateways of ${this.#host} have changed`);
  }

  #keep(problem: string): void {
    this.#problem = problem;
    const addresses = this.#gateways.map(({ address }) => address);
    this.#log.warn(
      0,
      { addresses, error: problem },
      `Cannot look up ${this.#host}: the last known addresses stay in use; check the name and the DNS server`,
    );
  }
}
