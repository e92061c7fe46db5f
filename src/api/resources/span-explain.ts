import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { shownSpan } from '../../otlp/encode/sent-span.js';
import { unreadKeys } from '../../otlp/map/attribute-shapes.js';
import { GroundsOfSpans, noteLater } from '../../otlp/map/grounds.js';
import { readSent, readSentOrigin } from '../../otlp/map/span-metadata.js';
import { SpanMapper } from '../../otlp/map/span-record.js';
import { spansToTraces } from '../../otlp/map/spans-to-traces.js';
import type { TracesRequest } from '../../otlp/wire/requests.js';
import type { StoredSpan } from '../../storage/contracts/runs.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';

export const explainSpan = {
  id: 'explainSpan',
  method: 'GET',
  path: '/api/v1/dashboard/traces/{trace_id}/spans/{span_id}/explain',
  tag: 'traces',
  summary: 'Show which attribute or rule gave each value of a span',
  description:
    'As `jackdaw explain` shows it for recorded telemetry, with the default names of agents. The values are those of `readSpan`.',
  access: 'read',
  params: Type.Object({ trace_id: uuid(), span_id: uuid() }),
  responses: {
    200: Type.Object(
      {
        span_id: uuid(),
        from: nullable(
          Type.Unsafe<Record<string, string>>({
            type: 'object',
            additionalProperties: { type: 'string' },
            description:
              'Fields of the span with the key of an attribute, or the rule, that gave the value. Null for a span of the batch route, whose values are as sent.',
          }),
        ),
        unread: Type.Array(Type.String(), {
          description: 'Attributes that gave no value, in alphabetical order.',
        }),
      },
      { title: 'ExplainedSpan' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** `/dashboard/traces/{trace_id}/spans/{span_id}/explain` */
export function spanExplainRoutes({ routes, telemetry: { runs } }: ApiContext<'runs'>): readonly Route[] {
  return [
    routes.route(explainSpan).to(async ({ identity, params: { trace_id, span_id }, request }) => {
      const span = await runs.readSpan(identity.userId, trace_id, span_id, request.abort);
      if (!span) throw notFound('span');
      return { status: 200, json: { span_id, ...explained(span) } };
    }),
  ];
}

function explained(span: StoredSpan): { from: Record<string, string> | null; unread: string[] } {
  const request = sentRequest(span);
  if (request === undefined) return { from: null, unread: [] };
  const grounds = new GroundsOfSpans();
  const mapper = new SpanMapper(undefined, grounds);
  const { batch } = spansToTraces(request, { tenant: '', idleTimeoutMs: null }, mapper);
  const record = batch.items[0]?.spans[0];
  const from = { ...(record && grounds.of(record)) };
  noteLater(from, { ...span, call: span.details?.call ?? null });
  if ((span.events?.length ?? 0) > 0)
    for (const payload of ['input_data', 'output_data'] as const)
      if (span[payload] === null) from[payload] = 'log records of the span';
  const sent = request.resourceSpans?.[0]?.scopeSpans?.[0]?.spans?.[0]?.attributes ?? [];
  return { from, unread: unreadKeys(sent.map(({ key }) => key ?? '')).sort() };
}

/** @returns undefined for a span that was not received by OTLP */
function sentRequest(span: StoredSpan): TracesRequest | undefined {
  const { sent = null, metadata = null } = span.details ?? {};
  if (sent !== null) {
    const { resource, scopeSpans } = readSentOrigin(sent.origin);
    const scope = scopeSpans?.[0]?.scope;
    return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [readSent(sent.bytes)] }] }] };
  }
  const shown = shownSpan(span, metadata, null);
  return (
    shown && {
      resourceSpans: [
        { resource: shown.resource, scopeSpans: [{ scope: shown.scope, spans: [shown.span] }] },
      ],
    }
  );
}
