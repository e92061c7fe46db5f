import type { ShownMap } from './map-oracle.js';
import type { TestStore } from './test-store.js';

/** A user's service map, without what follows from the rest. @param since microseconds; null for all time */
export async function shownMap(
  { store }: TestStore,
  tenant: string,
  since: number | null = null,
): Promise<ShownMap> {
  const { nodes, edges } = await store.serviceMap(tenant, since);
  const read = (list: Uint8Array): unknown => JSON.parse(`[${Buffer.from(list).toString('utf8')}]`);
  return {
    nodes: (read(nodes) as ShownMap['nodes']).map(({ id, span_type, span_count }) => ({
      id,
      span_type,
      span_count,
    })),
    edges: read(edges) as ShownMap['edges'],
  };
}
