import type { MapHour, MapRange } from '../../contracts/service-map.js';
import { Transfer } from '../../../worker/thread-protocol.js';
import type { ReadContext } from '../segments/read-context.js';
import { readMapHours } from './map-hours.js';
import { readMapPage, type MapList, type MapPage } from './service-map.js';

/** The reads of the contract `ServiceMap`, divided into messages of the store thread. */
export class MapReads {
  /** The first page of each list, from one capture. */
  async read(
    { tenant, short }: ReadContext,
    range: MapRange,
  ): Promise<Transfer<Readonly<Record<MapList, MapPage>>>> {
    return await short(async (connection, capture) => {
      const page = (list: MapList): Promise<MapPage> =>
        readMapPage(connection, capture, { tenant, range, list, after: null });
      const map = { nodes: await page('nodes'), edges: await page('edges') };
      return new Transfer(map, [map.nodes.json.buffer, map.edges.json.buffer]);
    });
  }

  /** A later page. @param after the names of the last item of the previous page */
  async rest(
    { tenant, short }: ReadContext,
    range: MapRange,
    list: MapList,
    after: readonly string[],
  ): Promise<Transfer<MapPage>> {
    return await short(async (connection, capture) => {
      const page = await readMapPage(connection, capture, { tenant, range, list, after });
      return new Transfer(page, [page.json.buffer]);
    });
  }

  async hours({ tenant, short }: ReadContext, range: MapRange): Promise<readonly MapHour[]> {
    return await short((connection, capture) => readMapHours(connection, capture, tenant, range));
  }
}
