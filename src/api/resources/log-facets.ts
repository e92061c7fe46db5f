import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { SEVERITIES } from '../../signal/log-record.js';
import { formatTime } from '../../signal/time.js';
import { MOST_LOG_SERVICES, type LogFacets } from '../../storage/contracts/logs.js';
import type { ApiContext } from '../support/api-context.js';
import { count, nullable, formatNullableTime, time } from '../support/fields.js';
import { INTERVALS, intervalOf, intervalParameter, stretchOf, type Interval } from '../support/intervals.js';
import { logParameters, untimedLogFilter } from './logs.js';

const NAMES = ['1s', '10s', '1m', '5m', '15m', '1h', '6h', '1d'] as const satisfies readonly Interval[];

const facetsSchema = Type.Object(
  {
    interval: Type.Enum(NAMES),
    start_time: time(),
    end_time: time(),
    count: count('Number of matches.'),
    severities: Type.Array(
      Type.Object({ name: Type.Enum(SEVERITIES), count: count() }, { title: 'LogSeverityCount' }),
      { description: 'All, the least severe first; counted without the condition `severity`.' },
    ),
    services: Type.Array(
      Type.Object(
        { name: Type.String({ description: 'Empty if not sent.' }), count: count() },
        { title: 'LogServiceCount' },
      ),
      {
        description: `Services with the most records, at most ${MOST_LOG_SERVICES}; counted without the condition \`service_name\`.`,
      },
    ),
    of_other_services: count('Records of all other services.'),
    buckets: Type.Array(
      Type.Object(
        { start: time(), count: count(), errors: count('Those that are `error` or `fatal`.') },
        { title: 'LogBucket' },
      ),
      { description: 'Buckets with records, in order.' },
    ),
    counted_after: nullable(
      time(
        'Null: all that match are counted. Otherwise there is more than is looked through for one answer: before this time something may be missing.',
      ),
    ),
  },
  { title: 'LogFacets' },
);

const readFacets = {
  id: 'readLogFacets',
  method: 'GET',
  path: '/api/v1/dashboard/logs/facets',
  tag: 'logs',
  summary: 'Count log records of a search by severity, service and time',
  description:
    'Conditions are those of `searchLogs`. Buckets begin at full seconds, minutes, hours or days in UTC.',
  access: 'read',
  query: Type.Object({
    ...logParameters,
    start_time: Type.Optional(time('At or after. Absent: a day before the end.')),
    end_time: Type.Optional(time('At or before. Absent: now.')),
    interval: intervalParameter(NAMES),
  }),
  responses: { 200: facetsSchema },
} satisfies Operation;

/** `GET /dashboard/logs/facets`. */
export function logFacetRoutes({ routes, telemetry, clock }: ApiContext<'logs'>): readonly Route[] {
  return [
    routes.route(readFacets).to(async ({ identity: { userId }, query, request }) => {
      const stretch = stretchOf(query, clock.now());
      const { start_time, end_time } = stretch;
      const interval = intervalOf(NAMES, query.interval ?? 'auto', end_time - start_time);
      const buckets = { interval: INTERVALS[interval], ...stretch };
      const found = await telemetry.logs.facets(userId, untimedLogFilter(query), buckets, request.abort);
      const times = { start_time: formatTime(start_time), end_time: formatTime(end_time) };
      return { status: 200, json: { interval, ...times, ...serializeFacets(found) } };
    }),
  ];
}

function serializeFacets(
  found: LogFacets,
): Omit<Static<typeof facetsSchema>, 'interval' | 'start_time' | 'end_time'> {
  const { severities, services, buckets, counted_after, ...counts } = found;
  return {
    ...counts,
    severities: SEVERITIES.map((name) => ({ name, count: severities.get(name) ?? 0 })),
    services: [...services],
    buckets: buckets.map(({ start, ...stats }) => ({ start: formatTime(start), ...stats })),
    counted_after: formatNullableTime(counted_after),
  };
}
