import { listOf } from '../../support/read-pieces.js';
import type { ShownMap } from './map-oracle.js';
import { printEdge, printNode } from '../../../src/api/resources/service-map.js';
import type { TelemetryPlane } from '../../../src/storage/contracts/telemetry-plane.js';

/** A user's service map, without what follows from the rest. @param since microseconds; null for all time */
export async function shownMap(
  { store }: { readonly store: Pick<TelemetryPlane, 'map'> },
  tenant: string,
  since: number | null = null,
): Promise<ShownMap> {
  const { nodes, edges } = await store.map.read(tenant, { since, before: null });
  return {
    nodes: (await listOf<ShownMap['nodes'][number]>(nodes, printNode)).map(
      ({ id, span_type, span_count, error_count, p95_ms }) => ({
        id,
        span_type,
        span_count,
        error_count,
        p95_ms,
      }),
    ),
    edges: await listOf<ShownMap['edges'][number]>(edges, printEdge),
  };
}
