import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { SPAN_TYPES } from '../../signal/span.js';
import {
  ALL_TIME,
  NODE_TYPES,
  nodeTypeOf,
  type MapEdge,
  type MapNode,
  type MapRange,
  type StoredMap,
} from '../../storage/contracts/service-map.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, time } from '../support/fields.js';
import { longBody, serializePages } from '../support/long-body.js';
import { validationProblem } from '../../http/field-errors.js';
import { MICROS_PER_HOUR } from '../../signal/time-units.js';
import { formatTime, parseTime, type Micros } from '../../signal/time.js';

/** Stats of a node's spans, or of the spans that an edge counts. */
const stats = {
  error_count: nullable(
    count(
      'Spans that failed or timed out. Null: some were counted before version 6 of the store, which introduced this; `jackdaw map rebuild` counts them.',
    ),
  ),
  p95_ms: nullable(
    Type.Number({
      minimum: 0,
      description:
        '95th percentile of the duration of ended spans in milliseconds, within 1% (10% for spans stored by earlier versions). Null: none has ended, or as for `error_count`.',
    }),
  ),
};

const nodeSchema = Type.Object(
  {
    id: Type.String({ description: 'The name of the service or agent.' }),
    name: Type.String(),
    node_type: Type.Enum([...new Set(Object.values(NODE_TYPES))]),
    span_type: Type.Enum(SPAN_TYPES, { description: 'The span type that creates the node.' }),
    span_count: count('Spans of the node. 0: an agent without spans of its own.'),
    ...stats,
  },
  { title: 'ServiceMapNode' },
);

const edgeSchema = Type.Object(
  {
    source: Type.String({ description: 'The id of the calling node.' }),
    target: Type.String({ description: 'The id of the called node.' }),
    weight: count('Spans of the called node below a span of the calling node.'),
    ...stats,
  },
  { title: 'ServiceMapEdge' },
);

export const readServiceMap = {
  id: 'readServiceMap',
  method: 'GET',
  path: '/api/v1/dashboard/service-map/',
  tag: 'service map',
  summary: 'Get the service map: agents, services, databases and the calls between them',
  description:
    'Nodes are ordered by id, edges by source and target (by code points). Empty before the first trace. After 50 000 names of a user, further nodes count as `(other)`.',
  access: 'read',
  query: Type.Object({
    hours: Type.Number({
      default: 24,
      minimum: 0,
      maximum: 8_784_000,
      refusesLess: true,
      description:
        'Counts traces that started within this many hours, including the whole first one. 0: all. Negative numbers are refused. Ignored with `start_time` or `end_time`.',
    }),
    start_time: Type.Optional(
      time(
        'Counts traces that started at or after this, including its whole first hour. Absent with `end_time`: everything before.',
      ),
    ),
    end_time: Type.Optional(
      time(
        'Counts traces that started before this, including its whole last hour. Absent with `start_time`: everything after.',
      ),
    ),
  }),
  responses: {
    200: Type.Object(
      { nodes: Type.Array(nodeSchema), edges: Type.Array(edgeSchema) },
      { title: 'ServiceMap' },
    ),
  },
} satisfies Operation;

const readHours = {
  id: 'readServiceMapHours',
  method: 'GET',
  path: '/api/v1/dashboard/service-map/hours',
  tag: 'service map',
  summary: 'List hours of the service map with their spans',
  description: 'Hours with spans, in order, for choosing `start_time` and `end_time` of a map.',
  access: 'read',
  query: Type.Object({
    hours: Type.Integer({
      default: 168,
      minimum: 1,
      maximum: 8784,
      description: 'Hours to look back, including the whole first hour.',
    }),
  }),
  responses: {
    200: Type.Array(
      Type.Object(
        {
          hour: time('Its start.'),
          spans: count('Spans of nodes.'),
          errors: nullable(count('Failed or timed-out spans. Null as for `error_count` of the map.')),
        },
        { title: 'ServiceMapHour' },
      ),
    ),
  },
} satisfies Operation;

/** `/dashboard/service-map/`, `/dashboard/service-map/hours` */
export function serviceMapRoutes({ routes, telemetry, clock }: ApiContext<'map'>): readonly Route[] {
  return [
    routes.route(readServiceMap).to(async ({ identity, query, request }) => {
      const map = await telemetry.map.read(identity.userId, rangeOf(query, clock.now()), request.abort);
      return { status: 200, encoded: await longBody('{"nodes":[', lists(map), ']}') };
    }),
    routes.route(readHours).to(async ({ identity, query: { hours }, request }) => {
      const range = { since: clock.now() - hours * MICROS_PER_HOUR, before: null };
      const found = await telemetry.map.hours(identity.userId, range, request.abort);
      return {
        status: 200,
        json: found.map(({ hour, spans, errors }) => ({ hour: formatTime(hour), spans, errors })),
      };
    }),
  ];
}

/** @throws HttpProblem if the time range is empty */
function rangeOf(
  { hours, start_time, end_time }: Static<typeof readServiceMap.query>,
  now: Micros,
): MapRange {
  if (start_time === undefined && end_time === undefined)
    return hours === 0 ? ALL_TIME : { since: now - hours * MICROS_PER_HOUR, before: null };
  const [since = null, before = null] = [start_time, end_time].map((text) =>
    text === undefined ? undefined : parseTime(text),
  );
  if (since !== null && before !== null && since >= before)
    throw validationProblem('query', [{ field: 'start_time', message: 'must be before end_time' }]);
  return { since, before };
}

async function* lists({ nodes, edges }: StoredMap): AsyncGenerator<Uint8Array> {
  yield* serializePages(nodes, serializeNode);
  yield Buffer.from('],"edges":[');
  yield* serializePages(edges, serializeEdge);
}

export function serializeNode({ id, span_type, span_count, error_count, p95_ms }: MapNode) {
  return { id, name: id, node_type: nodeTypeOf(span_type), span_type, span_count, error_count, p95_ms };
}

export function serializeEdge({ source, target, weight, error_count, p95_ms }: MapEdge) {
  return { source, target, weight, error_count, p95_ms };
}
