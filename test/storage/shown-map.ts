import { listOf } from '../support/read-pieces.js';
import type { ShownMap } from './map-oracle.js';
import type { TestStore } from './test-store.js';

/** A user's service map, without what follows from the rest. @param since microseconds; null for all time */
export async function shownMap(
  { store }: TestStore,
  tenant: string,
  since: number | null = null,
): Promise<ShownMap> {
  const { nodes, edges } = await store.serviceMap(tenant, since);
  return {
    nodes: (await listOf<ShownMap['nodes'][number]>(nodes)).map(({ id, span_type, span_count }) => ({
      id,
      span_type,
      span_count,
    })),
    edges: await listOf<ShownMap['edges'][number]>(edges),
  };
}
