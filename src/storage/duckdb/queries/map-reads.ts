import type { Micros } from '../../../signal/time.js';
import { hourOf } from '../../../signal/trace-map.js';
import { Transfer } from '../../../worker/thread-protocol.js';
import type { Asker } from '../reads/asker.js';
import { readMapPage, type MapList, type MapPage } from './service-map.js';

/** What the contract `ServiceMap` reads, in parts that may cross from the store thread. */
export class MapReads {
  /** The first parts of its lists, of one moment. @param since null for all time */
  async read(
    { tenant, short }: Asker,
    since: Micros | null,
  ): Promise<Transfer<Readonly<Record<MapList, MapPage>>>> {
    const firstHour = firstHourOf(since);
    return await short(async (connection, capture) => {
      const page = (list: MapList): Promise<MapPage> =>
        readMapPage(connection, capture, { tenant, firstHour, list, after: null });
      const map = { nodes: await page('nodes'), edges: await page('edges') };
      return new Transfer(map, [map.nodes.json.buffer, map.edges.json.buffer]);
    });
  }

  /** A later part. @param after the names of the last item of the part before */
  async rest(
    { tenant, short }: Asker,
    since: Micros | null,
    list: MapList,
    after: readonly string[],
  ): Promise<Transfer<MapPage>> {
    const firstHour = firstHourOf(since);
    return await short(async (connection, capture) => {
      const page = await readMapPage(connection, capture, { tenant, firstHour, list, after });
      return new Transfer(page, [page.json.buffer]);
    });
  }
}

function firstHourOf(since: Micros | null): number | null {
  return since === null ? null : hourOf(since);
}
