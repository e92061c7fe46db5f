import { Type, type Static, type TObject } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { MAX_NAME } from '../../signal/names.js';
import { SPAN_TYPES } from '../../signal/span.js';
import {
  RUN_SORTS,
  type RunFilter,
  type RunCursor,
  type RunSearch,
  type RunSummary,
  type SpanFilter,
} from '../../storage/contracts/runs.js';
import { validationProblem } from '../../http/field-errors.js';
import type { ApiContext } from '../support/api-context.js';
import { count, formatNullableTime, nullable, time, uuid } from '../support/fields.js';
import { longList, pagesFrom } from '../support/long-body.js';
import { pageParameters, pageStats, pageRange } from '../support/paging.js';
import { encodeCursor, decodeCursor } from '../support/run-cursor.js';
import { promptName, promptVersion } from './prompts.js';
import { listedRunSchema, serializedRuns } from '../support/listed-runs.js';
import { exportFormat, exportRuns } from '../support/run-export.js';
import {
  attributeFilter,
  attributeParameters,
  conditionFilter,
  conditionParameters,
} from '../support/field-conditions.js';
import { scoreFilter, scoreParameter } from '../support/score-filter.js';
import { boundFilter, boundParameters, runFilter, runFilterParameters } from '../support/runs.js';
import { QUERY_WORDS, SEARCH_MS } from '../support/text-search.js';
import type { TextMatch } from '../../storage/contracts/search.js';

const SORTS = ['started_at', ...RUN_SORTS] as const;
const ORDERS = ['desc', 'asc'] as const;

const ofSpan = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NAME, description }));

/** Query parameters of everything that a list of runs is filtered by, except its text. */
export const searchParameters = {
  ...runFilterParameters,
  ...conditionParameters,
  ...attributeParameters,
  ...scoreParameter,
  agent_id: Type.Optional(uuid()),
  ...boundParameters,
  model: ofSpan('Runs with a span of this model, exactly.'),
  span_name: ofSpan('Runs with a span of this name, exactly.'),
  span_type: Type.Optional(Type.Enum(SPAN_TYPES, { description: 'Runs with a span of this type.' })),
  node: ofSpan('Runs with a span that is this node in the service map.'),
  prompt_name: Type.Optional(promptName('Runs that used this prompt.')),
  prompt_version: Type.Optional(
    Type.Integer({
      ...promptVersion,
      description: 'Runs that used this version of the prompt. Requires `prompt_name`.',
    }),
  ),
};

export const listTraces = {
  id: 'listTraces',
  method: 'GET',
  path: '/api/v1/dashboard/traces',
  tag: 'traces',
  summary: 'List traces of all agents, newest first by default',
  description:
    'With `query` or `attribute.KEY`, runs are searched in the order of the list for a limited time: `searched_back_to` says how far, and `next_cursor` continues the search. If several of `model`, `span_name`, `span_type` and `node` are set, one span must match all of them. With any of these, `query`, `attribute.KEY` or `prompt_name`, runs are not counted, as with `count=none`. With `Accept: text/csv` or `application/x-ndjson` the response contains all matching runs and ignores `page`, `page_size` and `count`. CSV follows RFC 4180 and has a header line; text that a spreadsheet would read as a formula gets an apostrophe, at its start and after each `;`, tab and line break. NDJSON has one object per line. Runs that change during the download may appear in either state.',
  access: 'read',
  query: Type.Object({
    ...pageParameters,
    ...searchParameters,
    query: Type.Optional(
      Type.String({
        maxLength: 1024,
        description: `${QUERY_WORDS} Runs must have all words, and no excluded one, in their fields or in those of their spans: names, models, errors, outcome, tags, metadata, session, user and versions, inputs and outputs.`,
      }),
    ),
    previews: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Adds `models`, `error_span_count` and `input_preview`, which requires reading spans. Ignored for CSV and NDJSON.',
      }),
    ),
    scores: Type.Optional(
      Type.Boolean({ default: false, description: 'Adds `scores`. Ignored for CSV and NDJSON.' }),
    ),
    sort: Type.Optional(
      Type.Enum(SORTS, { default: 'started_at', description: 'Runs without the value come last.' }),
    ),
    order: Type.Optional(Type.Enum(ORDERS, { default: 'desc' })),
    count: Type.Optional(
      Type.Enum(['exact', 'none'], {
        default: 'exact',
        description:
          '`none` skips counting, which is faster for long lists: `count` is null and `page` is ignored; continue with `next_cursor`.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 300,
        description:
          'The `next_cursor` of a response to the same request. Returns the runs after it, regardless of newer runs. Skips counting and ignores `page`.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        items: Type.Array(listedRunSchema),
        count: nullable(count('Number of matches on all pages; null if not requested.')),
        page: Type.Integer({ minimum: 1 }),
        page_size: Type.Integer({ minimum: 1, maximum: 100 }),
        has_more: Type.Boolean({ description: 'Whether there are more pages.' }),
        next_cursor: nullable(
          Type.String({
            description:
              'Cursor of the next page, which may be empty in a search. Null on the last page, and if the texts of a page are very long: then continue with `page`.',
          }),
        ),
        searched_back_to: Type.Optional(
          nullable(
            time(
              'With `query` or `attribute.KEY`: start of the last run that was searched. Null if all were searched, or if the list is not ordered by start, newest first.',
            ),
          ),
        ),
      },
      { title: 'ListedRunPage' },
    ),
  },
} satisfies Operation;

/** `GET /dashboard/traces`. */
export function runListRoutes({ routes, telemetry }: ApiContext<'runs' | 'scores'>): readonly Route[] {
  const { runs } = telemetry;
  return [
    routes.route(listTraces).to(async ({ identity: { userId }, query, request }) => {
      const search = searchOf(query);
      const after = query.cursor === undefined ? null : decodeCursor(query.cursor, search);
      const found = { ...search, ...attributeFilter(query), query: query.query ?? '' };
      const isSearch = found.query !== '' || found.attributes !== undefined;
      const find = (place: RunCursor | null, limit: number) =>
        runs.search(userId, found, { after: place, limit, withinMs: SEARCH_MS }, request.abort);
      const follow = (place: RunCursor | null, limit: number) =>
        isSearch ? find(place, limit) : runs.follow(userId, search, { after: place, limit }, request.abort);
      const format = exportFormat(request.header('accept'));
      if (format !== undefined) return { status: 200, ...(await exportRuns(format, follow, after)) };
      const print: SerializeRuns = async (first, others, stats, matches) => {
        const pages = pagesFrom(first, others);
        const tail = `],${JSON.stringify(stats).slice(1)}`;
        const added = {
          previews: query.previews === true ? runs : null,
          scores: query.scores === true ? telemetry.scores : null,
        };
        const listed = serializedRuns(pages, { ...added, userId, abort: request.abort }, matches);
        return await longList('{"items":[', listed, (run) => run, tail);
      };
      const { page, page_size } = query;
      if (isSearch) {
        const { items, rest, next, matches, searched_back_to } = await find(after, page_size);
        const stats = {
          count: null,
          page: 1,
          page_size,
          has_more: next !== null,
          next_cursor: next === null ? null : encodeCursor(next),
          searched_back_to: formatNullableTime(searched_back_to),
        };
        return { status: 200, encoded: await print(items, rest?.pages, stats, matches) };
      }
      if (query.cursor !== undefined || query.count === 'none' || isFound(search)) {
        const { items, rest, next } = await follow(after, page_size);
        const next_cursor = next === null ? null : encodeCursor(next);
        const stats = { count: null, page: 1, page_size, has_more: next !== null, next_cursor };
        return { status: 200, encoded: await print(items, rest?.pages, stats) };
      }
      const { items, rest, count } = await runs.list(userId, search, pageRange(query), request.abort);
      const stats = pageStats(items.length + (rest?.runs ?? 0), count, { page, page_size });
      const last = rest === undefined && stats.has_more ? items.at(-1) : undefined;
      const next_cursor = last === undefined ? null : encodeCursor(placeOf(last, search));
      return { status: 200, encoded: await print(items, rest?.pages, { ...stats, next_cursor }) };
    }),
  ];
}

/** The parameters of a search; the order matters for lists only. */
type Query = Static<TObject<typeof searchParameters>> & {
  readonly sort?: (typeof SORTS)[number];
  readonly order?: (typeof ORDERS)[number];
};

type SerializeRuns = (
  first: readonly RunSummary[],
  others: AsyncIterable<readonly RunSummary[]> | undefined,
  stats: object,
  matches?: ReadonlyMap<string, TextMatch>,
) => Promise<Uint8Array | AsyncIterable<Uint8Array>>;

/** @throws HttpProblem 422 for a version without a prompt */
export function searchOf(query: Query): RunSearch {
  const { agent_id, sort, order } = query;
  const { prompt_name: name, prompt_version: version } = query;
  if (version !== undefined && name === undefined)
    throw validationProblem('query', [{ field: 'prompt_version', message: 'requires prompt_name' }]);
  const span = spanFilter(query);
  return {
    ...runFilter(query),
    ...(agent_id === undefined ? {} : { agent_id }),
    ...conditionFilter(query),
    ...scoreFilter(query),
    ...boundFilter(query),
    ...(sort === undefined || sort === 'started_at' ? {} : { sort }),
    ...(order === 'asc' ? { oldest_first: true } : {}),
    ...(Object.keys(span).length === 0 ? {} : { span }),
    ...(name === undefined ? {} : { prompt: { name, ...(version === undefined ? {} : { version }) } }),
  };
}

function spanFilter({ model, span_name: name, span_type: type, node }: Query): SpanFilter {
  return {
    ...(model === undefined ? {} : { model }),
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(node === undefined ? {} : { node }),
  };
}

/** Whether the search needs more than run headers; the total is then not counted. */
function isFound({ span, prompt }: RunSearch): boolean {
  return span !== undefined || prompt !== undefined;
}

function placeOf(run: RunSummary, { sort }: RunFilter): RunCursor {
  const { trace_id, started_at } = run;
  return { trace_id, started_at, value: sort === undefined ? null : run[sort] };
}
