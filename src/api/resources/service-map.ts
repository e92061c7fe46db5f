import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { SPAN_TYPES } from '../../signal/span.js';
import { NODE_TYPES, nodeTypeOf, type MapNode, type StoredMap } from '../../storage/service-map.js';
import type { ApiContext } from '../support/api-context.js';
import { count } from '../support/fields.js';
import { longBody, printPages } from '../support/long-body.js';
import { MICROS_PER_HOUR } from '../../signal/time-units.js';

const nodeSchema = Type.Object(
  {
    id: Type.String({ description: 'The name of the service or agent.' }),
    name: Type.String(),
    node_type: Type.Enum(Object.values(NODE_TYPES)),
    span_type: Type.Enum(SPAN_TYPES, { description: 'The type of span that makes such a node.' }),
    span_count: count('Spans of the node. 0: an agent that has no span of its own.'),
  },
  { title: 'ServiceMapNode' },
);

const edgeSchema = Type.Object(
  {
    source: Type.String({ description: 'The id of the calling node.' }),
    target: Type.String({ description: 'The id of the called node.' }),
    weight: count('Spans of the called node under one of the calling node.'),
  },
  { title: 'ServiceMapEdge' },
);

const readServiceMap = {
  id: 'readServiceMap',
  method: 'GET',
  path: '/api/v1/dashboard/service-map/',
  tag: 'service map',
  summary: 'Who calls whom: agents, services, databases and other steps, and the calls between them',
  description:
    'Nodes ordered by id, edges by source and target (by code points). Empty when nothing was ingested. Beyond 50 000 names of a user further nodes are counted as `(other)`.',
  access: 'read',
  query: Type.Object({
    hours: Type.Number({
      default: 24,
      minimum: 0,
      maximum: 8_784_000,
      refusesLess: true,
      description:
        'Counts traces that started within this many hours, the first of them as a whole. 0: all. Negative numbers are refused.',
    }),
  }),
  responses: {
    200: Type.Object(
      { nodes: Type.Array(nodeSchema), edges: Type.Array(edgeSchema) },
      { title: 'ServiceMap' },
    ),
  },
} satisfies Operation;

/** `/dashboard/service-map/` */
export function serviceMapRoutes({ routes, telemetry, clock }: ApiContext): readonly Route[] {
  return [
    routes.route(readServiceMap).to(async ({ identity, query: { hours }, request }) => {
      const since = hours === 0 ? null : clock.now() - hours * MICROS_PER_HOUR;
      const map = await telemetry.map.read(identity.userId, since, request.abort);
      return { status: 200, encoded: await longBody('{"nodes":[', lists(map), ']}') };
    }),
  ];
}

async function* lists({ nodes, edges }: StoredMap): AsyncGenerator<Uint8Array> {
  yield* printPages(nodes, printNode);
  yield Buffer.from('],"edges":[');
  yield* printPages(edges, ({ source, target, weight }) => ({ source, target, weight }));
}

export function printNode({ id, span_type, span_count }: MapNode) {
  return { id, name: id, node_type: nodeTypeOf(span_type), span_type, span_count };
}
