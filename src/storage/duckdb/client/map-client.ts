import type { MapHour, MapRange, MapRebuild, ServiceMap, StoredMap } from '../../contracts/service-map.js';
import type { MapList } from '../read/service-map.js';
import { jsonPages } from '../segments/json-pages.js';
import type { StoreReach } from './store-reach.js';

/** The contract `ServiceMap` for the daemon's thread. */
export class MapClient implements ServiceMap {
  readonly #reach: StoreReach;

  constructor(reach: StoreReach) {
    this.#reach = reach;
  }

  async read(userId: string, range: MapRange, abort?: AbortSignal): Promise<StoredMap> {
    const { tenant } = await this.#reach.user(userId);
    const first = await this.#reach.readAs(tenant, 'map', 'read', [range], abort);
    const pages = (list: MapList): AsyncIterable<Uint8Array> =>
      jsonPages(
        first[list],
        ({ next }) => next,
        (after: readonly string[]) => this.#reach.readAs(tenant, 'map', 'rest', [range, list, after], abort),
      );
    return { nodes: pages('nodes'), edges: pages('edges') };
  }

  async hours(userId: string, range: MapRange, abort?: AbortSignal): Promise<readonly MapHour[]> {
    const { tenant } = await this.#reach.user(userId);
    return await this.#reach.readAs(tenant, 'map', 'hours', [range], abort);
  }

  async rebuild({ dryRun }: { readonly dryRun: boolean }): Promise<MapRebuild | null> {
    const rebuilt = await this.#reach.change('rebuildMap', dryRun);
    if (rebuilt === null) return null;
    const tenants = new Set(rebuilt.examples.map(({ tenant }) => tenant));
    const users = await this.#reach.opened.control.accounts.findTenants([...tenants]);
    const examples = rebuilt.examples.map(
      ({ tenant, words }) => `User ${users.get(tenant) ?? String(tenant)}, ${words}`,
    );
    return { ...rebuilt, examples };
  }
}
