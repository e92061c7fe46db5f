import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import type { OperationAnswer } from '../../http/operation-call.js';
import { METRIC_TYPES } from '../../signal/metric.js';
import { MICROS_PER_DAY, MICROS_PER_SECOND } from '../../signal/time-units.js';
import { formatTime, parseTime } from '../../signal/time.js';
import {
  METRIC_AGGREGATIONS,
  type MetricSeriesRequest,
  MOST_LABEL_KEYS,
  MOST_LABEL_VALUES,
  MOST_METRIC_SERIES,
  suits,
} from '../../storage/contracts/metrics.js';
import type { ApiContext } from '../support/api-context.js';
import { time } from '../support/fields.js';
import { stretchOf } from '../support/intervals.js';
import { labelFilter, MAX_PAIRS } from '../support/label-filter.js';
import { notFound } from '../support/not-found.js';

/** Maximum number of steps in a chart; the narrowest step that fits is used. */
const CHART_STEPS = 200;
const MOST_STEPS = 1500;
const STEPS_S = [1, 5, 10, 15, 30, 60, 300, 900, 3600, 21_600, 86_400];
const MOST_GROUP_KEYS = 8;

export const readSeries = {
  id: 'readMetricSeries',
  method: 'GET',
  path: '/api/v1/dashboard/metrics/series',
  tag: 'metrics',
  summary: 'Get a metric over time, grouped by labels',
  description: [
    '`avg`, `min`, `max` and `last` (the newest) aggregate the points of a step, for histograms the values recorded in the step.',
    '`sum` adds the values of the step for deltas and histograms, and the newest value of each source for gauges and cumulative sums.',
    '`rate` is the increase per second. Counter resets are detected, and an increase is spread evenly over the time since the previous point or the start of the counter.',
    '`p50`, `p95` and `p99` are interpolated linearly within histogram buckets.',
  ].join(' '),
  access: 'read',
  query: Type.Object({
    name: Type.String({ minLength: 1 }),
    labels: Type.Optional(
      Type.String({
        description: 'A JSON object of labels that a point must have.',
        contentMediaType: 'application/json',
        contentSchema: {
          type: 'object',
          maxProperties: MAX_PAIRS,
          additionalProperties: { type: ['string', 'number', 'boolean'] },
        },
      }),
    ),
    start_time: Type.Optional(time('Start of the range, inclusive. Default: a day before the end.')),
    end_time: Type.Optional(time('End of the range, exclusive. Default: now.')),
    step: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description: `Step in seconds. Default: chosen for at most ${CHART_STEPS} steps. At most ${MOST_STEPS} steps are allowed.`,
      }),
    ),
    agg: Type.Optional(Type.Enum(METRIC_AGGREGATIONS, { default: 'avg' })),
    group_by: Type.Optional(
      Type.String({
        maxLength: 1024,
        description: `Comma-separated label keys, at most ${MOST_GROUP_KEYS}; points with the same values form a series. Empty: one series for everything. Absent: one series per label set.`,
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        type: Type.Enum(METRIC_TYPES),
        unit: Type.String({
          description:
            'Unit of the metric. A `rate` is in this unit per second, for histograms in points per second.',
        }),
        step: Type.Integer({ description: 'Step in seconds.' }),
        start_time: time(),
        end_time: time(),
        series: Type.Array(
          Type.Object(
            {
              labels: Type.Unsafe<Record<string, string>>({
                type: 'object',
                additionalProperties: { type: 'string' },
              }),
              points: Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), {
                description:
                  'Start of the step in milliseconds since 1970, and the value. Steps without data are omitted.',
              }),
            },
            { title: 'MetricSeries' },
          ),
          {
            description: `Sorted by labels. At most ${MOST_METRIC_SERIES} series; the ones with the largest values are kept.`,
          },
        ),
        is_truncated: Type.Boolean({
          description: 'Whether series or the oldest points were omitted because the result is too large.',
        }),
      },
      { title: 'MetricSeriesList' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** Values of a label in a text. */
const LISTED_VALUES = 5;

export const listLabels = {
  id: 'listMetricLabels',
  method: 'GET',
  path: '/api/v1/dashboard/metrics/labels',
  tag: 'metrics',
  summary: 'List the labels of a metric by key',
  access: 'read',
  query: Type.Object({
    name: Type.String({ minLength: 1 }),
    start_time: Type.Optional(time('Only labels of points at or after this time. Default: the last 7 days.')),
  }),
  responses: {
    200: Type.Array(
      Type.Object(
        {
          key: Type.String(),
          values: Type.Array(Type.String(), { description: `Sorted values, at most ${MOST_LABEL_VALUES}.` }),
          is_truncated: Type.Boolean({ description: 'Whether there are more values.' }),
        },
        { title: 'MetricLabel' },
      ),
      { description: `At most ${MOST_LABEL_KEYS} keys.` },
    ),
  },
  errors: [404],
} satisfies Operation;

/** Labels as text: `model: a, b, …; route: /pay`. */
export function labelsText(labels: OperationAnswer<typeof listLabels>): string {
  const shown = labels.map(({ key, values, is_truncated }) => {
    const first = values.slice(0, LISTED_VALUES);
    return `${key}: ${[...first, ...(is_truncated || values.length > first.length ? ['…'] : [])].join(', ')}`;
  });
  return shown.join('; ');
}

/** `/dashboard/metrics/series` and `/dashboard/metrics/labels`. */
export function metricSeriesRoutes({
  routes,
  telemetry: { metrics },
  clock,
}: ApiContext<'metrics'>): readonly Route[] {
  return [
    routes.route(readSeries).to(async ({ identity: { userId }, query, request }) => {
      const { start_time, end_time } = stretchOf(query, clock.now());
      const step = stepOf(query.step, (end_time - start_time) / MICROS_PER_SECOND);
      const group_by = groupOf(query.group_by);
      const asked: MetricSeriesRequest = {
        labels: query.labels === undefined ? {} : labelFilter(query.labels),
        start_time,
        end_time,
        step: step * MICROS_PER_SECOND,
        agg: query.agg ?? 'avg',
        ...(group_by === undefined ? {} : { group_by }),
      };
      const found = await metrics.series(userId, query.name, asked, request.abort);
      if (found === null) throw notFound('metric');
      if (!suits(found.type, asked.agg))
        throw validationProblem('query', [
          { field: 'agg', message: `cannot be ${asked.agg} of a metric of type ${found.type}` },
        ]);
      const { type, unit, series, is_truncated } = found;
      const times = { start_time: formatTime(start_time), end_time: formatTime(end_time) };
      const printed = series.map(({ labels, points }) => ({
        labels: { ...labels },
        points: points.map(([ms, value]) => [ms, value]),
      }));
      return { status: 200, json: { type, unit, step, ...times, series: printed, is_truncated } };
    }),
    routes.route(listLabels).to(async ({ identity: { userId }, query, request }) => {
      const weekAgo = clock.now() - 7 * MICROS_PER_DAY;
      const since = query.start_time === undefined ? weekAgo : (parseTime(query.start_time) ?? weekAgo);
      const labels = await metrics.labels(userId, query.name, since, request.abort);
      if (labels === null) throw notFound('metric');
      const json: Static<(typeof listLabels)['responses'][200]> = labels.map((label) => ({
        ...label,
        values: [...label.values],
      }));
      return { status: 200, json };
    }),
  ];
}

/** @param asked seconds, like the length @throws HttpProblem 422 if there are too many steps */
function stepOf(asked: number | undefined, length: number): number {
  const fitting = STEPS_S.find((step) => length / step <= CHART_STEPS);
  const step = asked ?? fitting ?? 86_400;
  if (length / step <= MOST_STEPS) return step;
  throw validationProblem('query', [
    { field: 'step', message: `must give at most ${MOST_STEPS} steps from start_time to end_time` },
  ]);
}

/** @throws HttpProblem 422 for too many keys */
function groupOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const keys = text.split(',').filter((key) => key !== '');
  if (keys.length <= MOST_GROUP_KEYS) return keys;
  throw validationProblem('query', [
    { field: 'group_by', message: `must have at most ${MOST_GROUP_KEYS} keys` },
  ]);
}
