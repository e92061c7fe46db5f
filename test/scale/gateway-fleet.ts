import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { generateKey } from '../../src/auth/keys.js';
import type { ClickHouseServer } from '../support/clickhouse-server.js';
import type { PostgresServer } from '../support/postgres.js';
import { spawnDaemon, type DaemonProcess } from '../support/process.js';
import { portsOverlay } from '../support/test-config.js';

/** The servers and settings of a fleet. */
export interface FleetPlace {
  readonly clickHouse: ClickHouseServer;
  readonly postgres: PostgresServer;
  /** An empty folder. */
  readonly folder: string;
  /** Configuration of the `webhook` and `alerts` exporters of each gateway. */
  readonly webhook?: object;
  readonly alerts?: object;
  /** Path of a shipped gateway configuration; defaults to that of the tests. */
  readonly file?: string;
}

/** Several daemon processes that share one ClickHouse and one PostgreSQL. */
export class GatewayFleet {
  /** A key for all gateways with every scope. */
  readonly key = generateKey();
  readonly #test: Test;
  readonly #place: FleetPlace;
  readonly #postgres: string;
  readonly #overlay: string;
  #gateways: DaemonProcess[] = [];

  private constructor(test: Test, place: FleetPlace, postgres: string) {
    this.#test = test;
    this.#place = place;
    this.#postgres = postgres;
    this.#overlay = overlayOf(place);
  }

  static async start(t: Test, place: FleetPlace, gateways: number): Promise<GatewayFleet> {
    const fleet = new GatewayFleet(t, place, await place.postgres.createDatabase());
    for (let i = 0; i < gateways; i++) {
      mkdirSync(join(place.folder, String(i)));
      fleet.#gateways.push(await fleet.#spawn(i));
    }
    return fleet;
  }

  /** The current gateways: a restarted one has new addresses. */
  get gateways(): readonly DaemonProcess[] {
    return this.#gateways;
  }

  /** Kills a gateway like `kill -9` and restarts it. */
  async kill(index: number): Promise<void> {
    await this.#gateways[index]?.stop('SIGKILL');
    const again = await this.#spawn(index);
    this.#gateways = this.#gateways.with(index, again);
  }

  async #spawn(index: number): Promise<DaemonProcess> {
    const { folder, file } = this.#place;
    const directory = join(folder, String(index));
    const how =
      file === undefined
        ? { postgres: this.#postgres, overlay: this.#overlay }
        : this.#asShipped(directory, file);
    return await spawnDaemon(this.#test, { directory, key: this.key, ...how });
  }

  /** The shipped configuration with only ports and required values changed. */
  #asShipped(directory: string, file: string) {
    const { clickHouse } = this.#place;
    return {
      files: [file],
      overlay: `${portsOverlay(directory, this.key)}secrets: { key: ${Buffer.alloc(32, 'k').toString('base64')} }\n`,
      env: {
        JACKDAW_POSTGRES_URL: this.#postgres,
        JACKDAW_CLICKHOUSE_URL: clickHouse.url,
        JACKDAW_CLICKHOUSE_PASSWORD: clickHouse.password,
      },
    };
  }
}

function overlayOf({ clickHouse, webhook = {}, alerts = {} }: FleetPlace): string {
  const store = { store: 'clickhouse' };
  return JSON.stringify({
    extensions: {
      clickhouse: {
        urls: [clickHouse.url],
        database: clickHouse.newDatabase(),
        password: clickHouse.password,
        control: 'postgres',
      },
      query: store,
    },
    exporters: { storage: store, alerts: { ...store, ...alerts }, webhook },
    processors: { quota: store },
    service: { extensions: ['postgres', 'clickhouse', 'query', 'health'] },
  });
}
