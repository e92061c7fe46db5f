import { Type } from 'typebox';
import type { HttpProblem, Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { validationProblem } from '../../http/field-errors.js';
import { attributeReader } from '../../otlp/map/stored-attributes.js';
import type { ApiContext } from '../support/api-context.js';
import { MOST_ATTRIBUTE_RUNS, VALUE_FIELDS, type ValueField } from '../../storage/contracts/runs.js';
import { count, formatNullableTime, nullable, time, uuid } from '../support/fields.js';
import { listedRunSchema, serializeFoundRun } from '../support/listed-runs.js';
import { longList } from '../support/long-body.js';
import { logSchema, serializeLog } from './logs.js';
import { kindParameter, runFilter } from '../support/runs.js';
import { decodeMomentCursor, encodeMomentCursor } from '../support/moment-cursor.js';
import { notFound } from '../support/not-found.js';
import { QUERY_WORDS, SEARCH_MS, serializeTextMatch, textMatchSchema } from '../support/text-search.js';

const MAX_QUERY = 1024;

export const searchTrace = {
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
    query: Type.String({ minLength: 1, maxLength: MAX_QUERY, format: 'not-blank', description: QUERY_WORDS }),
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

/** The field for keys of attributes, and the beginning of the field for the values of one. */
const ATTRIBUTE = 'attribute';
const FIELD = `^(?:(?:metadata|${ATTRIBUTE})\\..+|${[...VALUE_FIELDS, ATTRIBUTE].join('|')})$`;
/** How long values of attributes are collected. */
const SUGGEST_MS = 500;

const listValues = {
  id: 'listRunValues',
  method: 'GET',
  path: '/api/v1/dashboard/traces/values',
  tag: 'traces',
  summary: 'List values of a field of runs, the most frequent first',
  description: `For suggestions while a filter of \`listTraces\` is entered. Keys and values of attributes come from the newest runs: at most ${MOST_ATTRIBUTE_RUNS}, read for up to ${SUGGEST_MS} ms.`,
  access: 'read',
  query: Type.Object({
    field: Type.String({
      documented: { pattern: FIELD },
      maxLength: 1024,
      description: `One of ${VALUE_FIELDS.map((field) => `\`${field}\``).join(', ')}, which has the keys of metadata, \`metadata.KEY\` for the values of a key, \`attribute\` for the keys of spans' attributes, or \`attribute.KEY\` for the values of one.`,
    }),
    query: Type.Optional(
      Type.String({ maxLength: MAX_QUERY, description: 'Values that contain this text, in any case.' }),
    ),
    kind: kindParameter,
    agent_id: Type.Optional(uuid('Runs of this agent.')),
    start_time: Type.Optional(time('Runs started at or after.')),
    end_time: Type.Optional(time('Runs started at or before.')),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Values; clamped.' }),
  }),
  responses: {
    200: Type.Object(
      {
        items: Type.Array(
          Type.Object(
            { value: Type.String(), runs: count('Number of runs with the value.') },
            { title: 'RunValue' },
          ),
        ),
      },
      { title: 'RunValues' },
    ),
  },
} satisfies Operation;

/** Models looked at for a name: the most expensive ones. */
const MOST_MODELS = 100;
const named = Type.Array(Type.Object({ value: Type.String(), runs: count() }, { title: 'NamedRuns' }), {
  description: 'Whose id contains the text, with the number of their runs.',
});

export const searchAll = {
  id: 'searchAll',
  method: 'GET',
  path: '/api/v1/dashboard/search',
  tag: 'traces',
  summary: 'Search names, runs and log records',
  description:
    'For a search over all pages. Names of agents, prompts and models, and ids of sessions and users, match if they contain the text, in any case; runs and log records as in `listTraces` and `searchLogs`. Each list has the first `limit` matches.',
  access: 'read',
  query: Type.Object({
    query: Type.String({ minLength: 1, maxLength: MAX_QUERY, format: 'not-blank', description: QUERY_WORDS }),
    limit: Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'Of each list; clamped.' }),
  }),
  responses: {
    200: Type.Object(
      {
        agents: Type.Array(Type.Object({ id: uuid(), name: Type.String() }, { title: 'FoundAgent' })),
        prompts: Type.Array(Type.String()),
        models: Type.Array(Type.String(), {
          description: `Among the ${MOST_MODELS} models with the highest cost.`,
        }),
        sessions: named,
        users: named,
        runs: Type.Array(listedRunSchema, { description: 'Newest first.' }),
        runs_searched_back_to: nullable(
          time('Start of the last run that was searched; null if all were searched.'),
        ),
        logs: Type.Array(logSchema, { description: 'Newest first.' }),
      },
      { title: 'FoundEverywhere' },
    ),
  },
} satisfies Operation;

/** `/dashboard/search` */
export function searchAllRoutes({
  routes,
  telemetry,
  control,
}: ApiContext<'agents' | 'logs' | 'models' | 'runs'>): readonly Route[] {
  const { agents, logs, models, runs } = telemetry;
  return [
    routes.route(searchAll).to(async ({ identity: { userId }, query: { query, limit }, request }) => {
      const { abort } = request;
      const page = { offset: 0, limit };
      const valuesOf = async (field: ValueField) => [
        ...(await runs.values(userId, { field, contains: query, filter: {}, limit }, abort)),
      ];
      const range = { after: null, limit, withinMs: SEARCH_MS };
      const [ofAgents, prompts, ofModels, sessions, users, found, ofLogs] = await Promise.all([
        agents.find(userId, { query }, page, abort),
        control.prompts.findNames(userId, query, limit),
        models.list(userId, {}, { offset: 0, limit: MOST_MODELS }, abort),
        valuesOf('session_id'),
        valuesOf('user_id'),
        runs.search(userId, { query }, range, abort),
        logs.search(userId, { query }, page, abort),
      ]);
      const text = query.toLowerCase();
      const names = ofModels.items.flatMap(({ model }) => model ?? []);
      const head = {
        agents: ofAgents.items.map(({ id, name }) => ({ id, name })),
        prompts: [...prompts],
        models: names.filter((name) => name.toLowerCase().includes(text)).slice(0, limit),
        sessions,
        users,
        runs: found.items.map((run) => serializeFoundRun(run, found.matches)),
        runs_searched_back_to: formatNullableTime(found.searched_back_to),
      };
      const start = `${JSON.stringify(head).slice(0, -1)},"logs":[`;
      return { status: 200, encoded: await longList(start, ofLogs.items, serializeLog, ']}') };
    }),
  ];
}

/** The routes for searching in what is stored. */
export function searchRoutes({ routes, telemetry }: ApiContext<'runs'>): readonly Route[] {
  const { runs } = telemetry;
  return [
    routes.route(listValues).to(async ({ identity: { userId }, query, request }) => {
      const { field, query: contains, limit, agent_id } = query;
      if (!new RegExp(FIELD, 'u').test(field)) throw noField();
      const filter = { ...runFilter(query), ...(agent_id === undefined ? {} : { agent_id }) };
      const wanted = { ...(contains === undefined ? {} : { contains }), filter, limit };
      const { abort } = request;
      const isAttribute = field === ATTRIBUTE || field.startsWith(`${ATTRIBUTE}.`);
      const key = field === ATTRIBUTE ? null : field.slice(ATTRIBUTE.length + 1);
      const found = isAttribute
        ? runs.attributeValues(
            userId,
            { ...wanted, key, read: attributeReader(), withinMs: SUGGEST_MS },
            abort,
          )
        : runs.values(userId, { ...wanted, field: field as ValueField }, abort);
      return { status: 200, json: { items: [...(await found)] } };
    }),
    routes.route(searchTrace).to(async ({ identity: { userId }, params, query, request }) => {
      const at = query.cursor === undefined ? null : decodeMomentCursor(query.cursor);
      const after = at && { started_at: at.at, span_id: at.id };
      const range = { after, limit: query.limit, withinMs: SEARCH_MS };
      const found = await runs.searchTrace(userId, params.trace_id, query.query, range, request.abort);
      if (found === null) throw notFound('trace');
      const { items, next } = found;
      const next_cursor = next && encodeMomentCursor({ at: next.started_at, id: next.span_id });
      return { status: 200, json: { items: items.map(serializeTextMatch), next_cursor } };
    }),
  ];
}

function noField(): HttpProblem {
  const names = [...VALUE_FIELDS, 'metadata.KEY', ATTRIBUTE, `${ATTRIBUTE}.KEY`];
  return validationProblem('query', [{ field: 'field', message: `must be one of ${names.join(', ')}` }]);
}
