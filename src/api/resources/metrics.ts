import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import { METRIC_TYPES, TEMPORALITIES } from '../../signal/metric.js';
import type { JsonObject } from '../../signal/attributes.js';
import { formatTime, parseTime } from '../../signal/time.js';
import type { MetricPoints, PointFilter, StoredPoint } from '../../storage/contracts/metrics.js';
import type { ApiContext } from '../support/api-context.js';
import { count, jsonObject, nullable, formatNullableTime, time, uuid } from '../support/fields.js';
import { labelFilter, MAX_PAIRS } from '../support/label-filter.js';
import { longArray, longList } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';

const streamFields = {
  name: Type.String(),
  type: Type.Enum(METRIC_TYPES),
  unit: Type.String({ description: 'As sent, such as `ms` or `By`; empty if not sent.' }),
};

const metricSchema = Type.Object(
  {
    ...streamFields,
    description: Type.String(),
    data_point_count: count('Data points stored.'),
    last_seen_at: time('The latest time of any point.'),
  },
  { title: 'Metric' },
);

export const listMetrics = {
  id: 'listMetrics',
  method: 'GET',
  path: '/api/v1/dashboard/metrics/',
  tag: 'metrics',
  summary: 'List metrics by name',
  description: 'Type, unit and description are the latest received.',
  access: 'read',
  responses: { 200: Type.Array(metricSchema) },
} satisfies Operation;

const bucketsSchema = Type.Object(
  { offset: Type.Integer(), bucket_counts: Type.Array(Type.Number()) },
  { title: 'MetricBuckets' },
);

const exemplarSchema = Type.Object(
  {
    timestamp: nullable(time()),
    value: nullable(Type.Number()),
    trace_id: nullable(uuid()),
    span_id: nullable(uuid()),
    filtered_attributes: jsonObject(),
  },
  { title: 'MetricExemplar' },
);

const quantileSchema = Type.Object(
  { quantile: nullable(Type.Number()), value: nullable(Type.Number()) },
  { title: 'MetricQuantile' },
);

const pointSchema = Type.Object(
  {
    timestamp: time(),
    value: nullable(
      Type.Number({
        description: 'The mean for histograms and summaries. Null: missing, or not representable in JSON.',
      }),
    ),
    labels: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The service as `service_name`, and the attributes of the point.',
    }),
    count: Type.Optional(Type.Number({ minimum: 0, description: 'Only for distributions.' })),
    sum: Type.Optional(nullable(Type.Number())),
    min: Type.Optional(nullable(Type.Number())),
    max: Type.Optional(nullable(Type.Number())),
    bucket_counts: Type.Optional(Type.Array(Type.Number(), { description: 'Only for histograms.' })),
    explicit_bounds: Type.Optional(Type.Array(nullable(Type.Number()))),
    scale: Type.Optional(
      Type.Integer({ description: 'For exponential histograms, as are the following fields.' }),
    ),
    zero_count: Type.Optional(Type.Number()),
    zero_threshold: Type.Optional(nullable(Type.Number())),
    positive: Type.Optional(bucketsSchema),
    negative: Type.Optional(bucketsSchema),
    quantiles: Type.Optional(Type.Array(quantileSchema, { description: 'Only for summaries.' })),
    start_time: Type.Optional(nullable(time('This and the following fields: only with `details`.'))),
    flags: Type.Optional(Type.Integer()),
    temporality: Type.Optional(nullable(Type.Enum(TEMPORALITIES))),
    is_monotonic: Type.Optional(nullable(Type.Boolean())),
    exemplars: Type.Optional(Type.Array(exemplarSchema)),
  },
  { title: 'MetricDataPoint' },
);

const queryMetric = {
  id: 'queryMetric',
  method: 'GET',
  path: '/api/v1/dashboard/metrics/query',
  tag: 'metrics',
  summary: 'List data points of a metric, newest first',
  access: 'read',
  query: Type.Object({
    name: Type.Optional(Type.String({ description: 'Name of the metric. Also `metric_name`.' })),
    metric_name: Type.Optional(Type.String({ aliasOf: 'name' })),
    labels: Type.Optional(
      Type.String({
        description: 'A JSON object; points whose labels have all its pairs match.',
        contentMediaType: 'application/json',
        contentSchema: {
          type: 'object',
          maxProperties: MAX_PAIRS,
          additionalProperties: { type: ['string', 'number', 'boolean'] },
        },
      }),
    ),
    start_time: Type.Optional(time('Points at or after. Also `start`.')),
    start: Type.Optional(time()),
    end_time: Type.Optional(time('Points at or before. Also `end`.')),
    end: Type.Optional(time()),
    limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 1000, description: 'Points; clamped.' }),
    details: Type.Boolean({
      default: false,
      description: 'Adds to each point its start time, flags, temporality and exemplars.',
    }),
  }),
  responses: {
    200: Type.Object(
      { ...streamFields, data_points: Type.Array(pointSchema) },
      { title: 'MetricQueryResult' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** The routes under `/dashboard/metrics`. */
export function metricRoutes({ routes, telemetry }: ApiContext<'metrics'>): readonly Route[] {
  return [
    routes.route(listMetrics).to(async ({ identity, request }) => {
      const metrics = await telemetry.metrics.list(identity.userId, request.abort);
      return {
        status: 200,
        encoded: await longArray(metrics, ({ last_seen_at, ...metric }) => ({
          ...metric,
          last_seen_at: formatTime(last_seen_at),
        })),
      };
    }),
    routes.route(queryMetric).to(async ({ identity, query, request }) => {
      const name = query.name ?? query.metric_name;
      if (name === undefined) throw validationProblem('query', [{ field: 'name', message: 'is required' }]);
      const found = await telemetry.metrics.query(identity.userId, name, pointFilter(query), request.abort);
      if (!found) throw notFound('metric');
      return { status: 200, encoded: await serializePoints(found) };
    }),
  ];
}

function pointFilter(query: Static<typeof queryMetric.query>): PointFilter {
  const { labels, limit, details } = query;
  const start = query.start_time ?? query.start;
  const end = query.end_time ?? query.end;
  const start_time = start === undefined ? undefined : parseTime(start);
  const end_time = end === undefined ? undefined : parseTime(end);
  return {
    ...(labels === undefined ? {} : { labels: labelFilter(labels) }),
    ...(start_time === undefined ? {} : { start_time }),
    ...(end_time === undefined ? {} : { end_time }),
    limit,
    details,
  };
}

async function serializePoints({
  name,
  type,
  unit,
  points,
}: MetricPoints): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const head = JSON.stringify({ name, type, unit });
  return await longList(`${head.slice(0, -1)},"data_points":[`, points, serializePoint, ']}');
}

/** Numbers that JSON cannot represent become null. */
export function serializePoint({ timestamp, value, labels, distribution, details }: StoredPoint) {
  return {
    timestamp: formatTime(timestamp),
    value,
    labels,
    ...distribution,
    ...(details && {
      start_time: formatNullableTime(details.start_time),
      flags: details.flags,
      temporality: details.temporality,
      is_monotonic: details.is_monotonic,
      exemplars: (details.exemplars ?? []).map(serializeExemplar),
    }),
  };
}

function serializeExemplar(exemplar: JsonObject): JsonObject {
  const { timestamp, value } = exemplar;
  return {
    ...exemplar,
    timestamp: typeof timestamp === 'number' ? formatTime(timestamp) : null,
    value: typeof value === 'number' ? value : null,
  };
}
