import { listOf } from '../../support/read-pieces.js';
import type { ShownMap } from './map-oracle.js';
import { serializeEdge, serializeNode } from '../../../src/api/resources/service-map.js';
import type { TelemetryStore } from '../../../src/storage/contracts/telemetry-store.js';

/** A user's service map without derived fields. @param since microseconds; null for all time */
export async function shownMap(
  { store }: { readonly store: Pick<TelemetryStore, 'map'> },
  tenant: string,
  since: number | null = null,
): Promise<ShownMap> {
  const { nodes, edges } = await store.map.read(tenant, { since, before: null });
  return {
    nodes: (await listOf<ShownMap['nodes'][number]>(nodes, serializeNode)).map(
      ({ id, span_type, span_count, error_count, p95_ms }) => ({
        id,
        span_type,
        span_count,
        error_count,
        p95_ms,
      }),
    ),
    edges: await listOf<ShownMap['edges'][number]>(edges, serializeEdge),
  };
}
