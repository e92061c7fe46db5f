import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, uuid } from '../support/fields.js';
import { decodeMomentCursor, encodeMomentCursor } from '../support/moment-cursor.js';
import { notFound } from '../support/not-found.js';
import { QUERY_WORDS, SEARCH_MS, serializeTextMatch, textMatchSchema } from '../support/text-search.js';

const MAX_QUERY = 1024;

const searchTrace = {
  id: 'searchTrace',
  method: 'GET',
  path: '/api/v1/dashboard/traces/{trace_id}/search',
  tag: 'traces',
  summary: 'Search the spans of a trace',
  description:
    'Returns the spans that have all words of the query, and no excluded one, in their name, model, error, input and output, by start; first the trace itself if its own fields have them. Searches for a limited time: continue with `next_cursor`. Payloads that only log records contain are not searched.',
  access: 'read',
  params: Type.Object({ trace_id: uuid() }),
  query: Type.Object({
    query: Type.String({ minLength: 1, maxLength: MAX_QUERY, description: QUERY_WORDS }),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Spans; clamped.' }),
    cursor: Type.Optional(
      Type.String({ maxLength: 300, description: '`next_cursor` of a response to the same search.' }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        items: Type.Array(textMatchSchema),
        next_cursor: nullable(
          Type.String({ description: 'Null if all spans were searched; else more may be found.' }),
        ),
      },
      { title: 'FoundSpans' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** The routes for searching in what is stored. */
export function searchRoutes({ routes, telemetry }: ApiContext<'runs'>): readonly Route[] {
  return [
    routes.route(searchTrace).to(async ({ identity: { userId }, params, query, request }) => {
      const at = query.cursor === undefined ? null : decodeMomentCursor(query.cursor);
      const after = at && { started_at: at.at, span_id: at.id };
      const range = { after, limit: query.limit, withinMs: SEARCH_MS };
      const { runs } = telemetry;
      const found = await runs.searchTrace(userId, params.trace_id, query.query, range, request.abort);
      if (found === null) throw notFound('trace');
      const { items, next } = found;
      const next_cursor = next && encodeMomentCursor({ at: next.started_at, id: next.span_id });
      return { status: 200, json: { items: items.map(serializeTextMatch), next_cursor } };
    }),
  ];
}
