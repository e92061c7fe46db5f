import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import { SEVERITIES } from '../../signal/log-record.js';
import { formatTime, parseTime } from '../../signal/time.js';
import { bodyText } from '../../storage/shared/log-text.js';
import type { FoundLogs, LogFilter, LogCursor, StoredLog } from '../../storage/contracts/logs.js';
import type { ApiContext } from '../support/api-context.js';
import { count, jsonObject, nullable, formatNullableTime, time, uuid } from '../support/fields.js';
import { longList } from '../support/long-body.js';
import { encodeMomentCursor, decodeMomentCursor } from '../support/moment-cursor.js';
import { notFound } from '../support/not-found.js';

export const MAX_LOG_QUERY = 1024;
/** Maximum number of attributes in one search. */
const MOST_ATTRIBUTES = 10;
const MAX_OFFSET = 1_000_000_000;

export const logSchema = Type.Object(
  {
    id: uuid(),
    timestamp: time(),
    severity: Type.Enum(SEVERITIES),
    service_name: Type.String({ description: 'Empty if not sent.' }),
    event_name: Type.Optional(
      nullable(
        Type.String({
          description:
            'From the attribute `event.name`, else from the field. Absent if not sent; with `details` null.',
        }),
      ),
    ),
    body: nullable(Type.String({ description: 'Bodies other than text are shown as JSON. Null: not sent.' })),
    trace_id: nullable(uuid()),
    span_id: nullable(uuid()),
    attributes: jsonObject(),
    observed_at: Type.Optional(nullable(time('This and the following fields: only with `details`.'))),
    severity_number: Type.Optional(Type.Integer({ description: 'As sent; 0 for none.' })),
    severity_text: Type.Optional(Type.String()),
    flags: Type.Optional(Type.Integer()),
    resource: Type.Optional(jsonObject()),
    scope: Type.Optional(nullable(jsonObject())),
  },
  { title: 'LogRecord' },
);

/** The query has one parameter per attribute: `attribute.http.route=/items`. */
const attributesParameter = Type.Optional(
  Type.Record(Type.String(), Type.String({ maxLength: MAX_LOG_QUERY }), {
    maxProperties: MOST_ATTRIBUTES,
    prefix: 'attribute.',
    description: [
      'The value of the attribute KEY, for example `attribute.http.route=/items`: a whole text, or the JSON of any other value.',
      `At most ${MOST_ATTRIBUTES} attributes.`,
    ].join(' '),
  }),
);

/** Filters for records, in addition to their times. */
export const logParameters = {
  query: Type.Optional(Type.String({ maxLength: MAX_LOG_QUERY, description: 'Full text. Also `q`.' })),
  q: Type.Optional(Type.String({ maxLength: MAX_LOG_QUERY })),
  service_name: Type.Optional(Type.String({ description: 'Exact name. Also `service`.' })),
  service: Type.Optional(Type.String()),
  severity: Type.Optional(Type.Enum(SEVERITIES)),
  trace_id: Type.Optional(uuid()),
  span_id: Type.Optional(uuid('Needs `trace_id`.')),
  event_name: Type.Optional(
    Type.String({
      maxLength: MAX_LOG_QUERY,
      description: 'The whole name, also as the attribute `event.name`.',
    }),
  ),
  'attribute.KEY': attributesParameter,
};

export const searchLogs = {
  id: 'searchLogs',
  method: 'GET',
  path: '/api/v1/dashboard/logs/search',
  tag: 'logs',
  summary: 'Search log records, newest first',
  description: [
    'All conditions must be met. `query` searches the body as a person sees it (strings of JSON decoded, without escape sequences of',
    'terminals), the event name and the values of attributes (8192 characters of a value, 32 768 of a record). It is split into tokens:',
    'runs of letters and digits after NFKC and lower-casing. Each token must occur as a whole token; the tokens of a `"quoted phrase"`',
    'must be adjacent; `prefix*` finds the beginning of a token, and `-word` or `-"phrase"` leaves out records that have it. In scripts without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) any part of a text is found.',
    'Emoji, and words without letters and digits such as `->`, are found as they are. A query without anything',
    'to look for finds nothing.',
  ].join(' '),
  access: 'read',
  query: Type.Object({
    ...logParameters,
    start_time: Type.Optional(time('At or after. Also `start`.')),
    start: Type.Optional(time()),
    end_time: Type.Optional(time('At or before. Also `end`.')),
    end: Type.Optional(time()),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Records; clamped.' }),
    offset: Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0, description: 'Clamped.' }),
    cursor: Type.Optional(
      Type.String({
        maxLength: 300,
        description:
          '`next_cursor` of a response to the same search: returns and counts only the records after it.',
      }),
    ),
    details: Type.Boolean({
      default: false,
      description: 'Adds all other fields of each record.',
    }),
  }),
  responses: {
    200: Type.Object(
      {
        count: count('Number of matches on all pages, or after `cursor`.'),
        items: Type.Array(logSchema),
        limit: Type.Integer({ minimum: 1, maximum: 1000 }),
        offset: Type.Integer({ minimum: 0 }),
        next_cursor: nullable(
          Type.String({ description: 'Cursor of the next page; null on the last page.' }),
        ),
      },
      { title: 'LogSearchResult' },
    ),
  },
} satisfies Operation;

const readLogTrace = {
  id: 'readLogTrace',
  method: 'GET',
  path: '/api/v1/dashboard/logs/{log_id}/trace',
  tag: 'logs',
  summary: 'Get the trace of a log record',
  access: 'read',
  params: Type.Object({ log_id: uuid() }),
  responses: {
    200: Type.Object(
      { trace_id: uuid(), url: Type.String({ description: 'Path of the trace in the web interface.' }) },
      { title: 'LogTrace' },
    ),
  },
  errors: [404],
} satisfies Operation;

type Query = Static<typeof searchLogs.query>;
type UntimedQuery = Pick<Query, keyof typeof logParameters>;

/** The routes under `/dashboard/logs`. */
export function logRoutes({ routes, telemetry }: ApiContext<'logs'>): readonly Route[] {
  return [
    routes.route(searchLogs).to(async ({ identity, query, request }) => {
      const { limit, offset, details, cursor } = query;
      const page = { limit, offset, details, ...(cursor !== undefined && { after: placeOf(cursor) }) };
      const found = await telemetry.logs.search(identity.userId, logFilter(query), page, request.abort);
      return { status: 200, encoded: await serializeFound(found, query) };
    }),
    routes.route(readLogTrace).to(async ({ identity, params, request }) => {
      const traceId = await telemetry.logs.findTrace(identity.userId, params.log_id, request.abort);
      if (traceId === null) throw notFound('log record with a trace');
      return { status: 200, json: { trace_id: traceId, url: `/traces/${traceId}` } };
    }),
  ];
}

/**
 * Spans are found among the records of their trace.
 *
 * @throws HttpProblem 422 if only a span is named
 */
export function spanNeedsTrace(query: {
  readonly trace_id?: string | undefined;
  readonly span_id?: string | undefined;
}): void {
  if (query.span_id !== undefined && query.trace_id === undefined)
    throw validationProblem('query', [{ field: 'span_id', message: 'needs trace_id as well' }]);
}

/** @throws HttpProblem 422 if a span is named without its trace */
export function untimedLogFilter(query: UntimedQuery): LogFilter {
  spanNeedsTrace(query);
  const text = query.query ?? query.q;
  const service = query.service_name ?? query.service;
  return {
    ...(text === undefined ? {} : { query: text }),
    ...(service === undefined ? {} : { service_name: service }),
    ...(query.severity === undefined ? {} : { severity: query.severity }),
    ...(query.trace_id === undefined ? {} : { trace_id: query.trace_id }),
    ...(query.span_id === undefined ? {} : { span_id: query.span_id }),
    ...(query.event_name === undefined ? {} : { event_name: query.event_name }),
    ...(query['attribute.KEY'] === undefined ? {} : { attributes: query['attribute.KEY'] }),
  };
}

function logFilter(query: Query): LogFilter {
  const start = query.start_time ?? query.start;
  const end = query.end_time ?? query.end;
  const start_time = start === undefined ? undefined : parseTime(start);
  const end_time = end === undefined ? undefined : parseTime(end);
  return {
    ...untimedLogFilter(query),
    ...(start_time === undefined ? {} : { start_time }),
    ...(end_time === undefined ? {} : { end_time }),
  };
}

async function serializeFound(
  found: FoundLogs,
  { limit, offset }: Query,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const next_cursor = found.next && encodeMomentCursor({ at: found.next.timestamp, id: found.next.id });
  const tail = `],${JSON.stringify({ limit, offset, next_cursor }).slice(1)}`;
  return await longList(`{"count":${found.count},"items":[`, found.items, serializeLog, tail);
}

export function serializeLog({ details, ...log }: StoredLog) {
  const { id, timestamp, severity, service_name, event_name, body, trace_id, span_id, attributes } = log;
  return {
    id,
    timestamp: formatTime(timestamp),
    severity,
    service_name,
    ...((event_name !== null || details !== undefined) && { event_name }),
    body: bodyText(body),
    trace_id,
    span_id,
    attributes,
    ...(details && {
      observed_at: formatNullableTime(details.observed_at),
      severity_number: details.severity_number,
      severity_text: details.severity_text,
      flags: details.flags,
      resource: details.resource,
      scope: details.scope,
    }),
  };
}

function placeOf(cursor: string): LogCursor {
  const { at, id } = decodeMomentCursor(cursor);
  return { timestamp: at, id };
}
