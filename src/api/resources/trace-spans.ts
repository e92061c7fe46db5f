import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { serializeJson } from '../../signal/json.js';
import type { ApiContext } from '../support/api-context.js';
import { count, jsonObject, nullable, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { runFields } from '../support/runs.js';
import { runScores, serializeScore, spanScores } from '../support/scores.js';
import { shortened } from '../support/shortened.js';
import { detailFields, serializeDetailedSpan } from './span-detail.js';
import { spanSummarySchema, spanFields } from './span-schemas.js';
import { serializeSummary } from './trace-body.js';

export const readSummary = {
  id: 'readTraceSpans',
  method: 'GET',
  path: '/api/v1/dashboard/traces/{trace_id}/spans',
  tag: 'traces',
  summary: 'Get a trace with its spans, without payloads',
  description:
    'For traces in progress and long traces: the current header and scores, and the spans as in `readTrace`, with the sizes of `input_data` and `output_data` and the beginning of the input instead of the payloads. Payloads that only log records contain are ignored. With `after`, the `seq` of an earlier response, returns only spans that were added or changed since; a few may be repeated.',
  access: 'read',
  params: Type.Object({ trace_id: uuid() }),
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Absent: all spans.' }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        ...runFields,
        agent_id: uuid(),
        metadata: nullable(jsonObject()),
        seq: count('Value for `after`.'),
        scores: runScores,
        spans: Type.Array(spanSummarySchema),
      },
      { title: 'TraceOutline' },
    ),
  },
  errors: [404],
} satisfies Operation;

export const readSpan = {
  id: 'readSpan',
  method: 'GET',
  path: '/api/v1/dashboard/traces/{trace_id}/spans/{span_id}',
  tag: 'traces',
  summary: 'Get a span with all its data',
  description:
    'The span as in the trace, and everything that its client sent: attributes with their types, events, links, scope, resource. For a span of the batch route, only `metadata`; the other fields are null.',
  access: 'read',
  params: Type.Object({ trace_id: uuid(), span_id: uuid() }),
  query: Type.Object({
    max_bytes: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Shortens each of `input_data`, `output_data`, `attributes`, `events`, `links`, `scope`, `resource` and `metadata` that is longer than this as JSON: long texts end with “…”, long lists and objects are cut. Adds `is_truncated`. Absent: nothing is shortened.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        ...spanFields,
        ...detailFields,
        scores: spanScores,
        is_truncated: Type.Optional(
          Type.Boolean({ description: 'With `max_bytes`: whether anything was shortened.' }),
        ),
      },
      { title: 'ReadSpan' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** The routes under `/dashboard/traces/{trace_id}/spans`. */
export function traceSpanRoutes({ routes, telemetry }: ApiContext<'runs'>): readonly Route[] {
  return [
    routes.route(readSummary).to(async ({ identity, params, query, request }) => {
      const { userId } = identity;
      const { runs } = telemetry;
      const [trace, scores] = await Promise.all([
        runs.traceSummary(userId, params.trace_id, query.after ?? 0, request.abort),
        runs.scores(userId, params.trace_id, request.abort),
      ]);
      if (!trace) throw notFound('trace');
      return { status: 200, encoded: await serializeSummary(trace, scores) };
    }),
    routes.route(readSpan).to(async ({ identity, params, query, request }) => {
      const { trace_id, span_id } = params;
      const { runs } = telemetry;
      const [span, all] = await Promise.all([
        runs.readSpan(identity.userId, trace_id, span_id, request.abort),
        runs.scores(identity.userId, trace_id, request.abort),
      ]);
      if (!span) throw notFound('span');
      const whole = serializeDetailedSpan(span);
      const shown = query.max_bytes === undefined ? whole : shortened(whole, query.max_bytes);
      const scores = all.filter((score) => score.span_id === span.span_id).map(serializeScore);
      return { status: 200, encoded: Buffer.from(serializeJson({ ...shown, scores })) };
    }),
  ];
}
