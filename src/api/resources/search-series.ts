import { Type } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { hasFailed } from '../../runs/rules/run-outcome.js';
import { formatTime, type Micros } from '../../signal/time.js';
import type { RunCursor, Runs, RunSummary, TextSearch } from '../../storage/contracts/runs.js';
import type { ApiContext } from '../support/api-context.js';
import { count, formatNullableTime, nullable, time } from '../support/fields.js';
import { INTERVALS, intervalOf, intervalParameter, stretchOf, type Interval } from '../support/intervals.js';
import { QUERY_WORDS, SEARCH_MS } from '../support/text-search.js';
import { attributeFilter } from '../support/field-conditions.js';
import { searchOf, searchParameters } from './run-list.js';

const NAMES = ['1m', '5m', '1h', '1d'] as const satisfies readonly Interval[];
/** Runs that one step of a search returns. */
const STEP = 500;

const countFields = {
  runs: count('Number of runs found.'),
  failed: count('Of them with status `failed` or `timed_out`.'),
};

const readSearchSeries = {
  id: 'readSearchSeries',
  method: 'GET',
  path: '/api/v1/dashboard/traces/search-series',
  tag: 'traces',
  summary: 'Count the runs that a search finds over time',
  description:
    'Counts the runs of `listTraces` with the same `query`, `attribute.KEY` and other filters by their start, newest first, for a limited time. If `searched_back_to` is set, older runs were not searched: all counts cover the runs started after it.',
  access: 'read',
  query: Type.Object({
    ...searchParameters,
    query: Type.Optional(Type.String({ maxLength: 1024, description: QUERY_WORDS })),
    start_time: Type.Optional(time('Started at or after. Absent: a day before the end.')),
    end_time: Type.Optional(time('Started before. Absent: now.')),
    interval: intervalParameter(NAMES),
  }),
  responses: {
    200: Type.Object(
      {
        interval: Type.Enum(NAMES),
        start_time: time(),
        end_time: time(),
        ...countFields,
        buckets: Type.Array(Type.Object({ start: time(), ...countFields }, { title: 'FoundRunsBucket' }), {
          description: 'Non-empty buckets in order.',
        }),
        searched_back_to: nullable(
          time('Start of the last run that was searched; null if all were searched.'),
        ),
      },
      { title: 'FoundRunsSeries' },
    ),
  },
} satisfies Operation;

/** `/dashboard/traces/search-series` */
export function searchSeriesRoutes({ routes, telemetry, clock }: ApiContext<'runs'>): readonly Route[] {
  return [
    routes.route(readSearchSeries).to(async ({ identity: { userId }, query, request }) => {
      const { start_time, end_time } = stretchOf(query, clock.now());
      const interval = intervalOf(NAMES, query.interval ?? 'auto', end_time - start_time);
      // The end of a list is included.
      const search = {
        ...searchOf(query),
        ...attributeFilter(query),
        query: query.query ?? '',
        start_time,
        end_time: end_time - 1,
      };
      const { counts, searchedBackTo } = await countFound(
        telemetry.runs,
        userId,
        { search, interval: INTERVALS[interval] },
        request.abort,
      );
      const buckets = [...counts]
        .sort(([a], [b]) => a - b)
        .map(([start, found]) => ({ start: formatTime(start), ...found }));
      const total = buckets.reduce(
        (sum, { runs, failed }) => ({ runs: sum.runs + runs, failed: sum.failed + failed }),
        { runs: 0, failed: 0 },
      );
      return {
        status: 200,
        json: {
          interval,
          start_time: formatTime(start_time),
          end_time: formatTime(end_time),
          ...total,
          buckets,
          searched_back_to: formatNullableTime(searchedBackTo),
        },
      };
    }),
  ];
}

interface Found {
  readonly counts: ReadonlyMap<Micros, { readonly runs: number; readonly failed: number }>;
  readonly searchedBackTo: Micros | null;
}

/** Searches until the end of the list or of the time. */
async function countFound(
  runs: Runs,
  userId: string,
  { search, interval }: { readonly search: TextSearch; readonly interval: Micros },
  abort: AbortSignal,
): Promise<Found> {
  const end = performance.now() + SEARCH_MS;
  const counts = new Map<Micros, { runs: number; failed: number }>();
  const add = ({ started_at, status }: RunSummary): void => {
    const start = Math.floor(started_at / interval) * interval;
    const found = counts.get(start) ?? { runs: 0, failed: 0 };
    found.runs++;
    if (hasFailed(status)) found.failed++;
    counts.set(start, found);
  };
  for (let after: RunCursor | null = null; ;) {
    const withinMs = Math.max(0, end - performance.now());
    const { items, rest, next }: Awaited<ReturnType<Runs['search']>> = await runs.search(
      userId,
      search,
      { after, limit: STEP, withinMs },
      abort,
    );
    items.forEach(add);
    if (rest !== undefined) for await (const page of rest.pages) page.forEach(add);
    if (next === null || performance.now() >= end)
      return { counts, searchedBackTo: next === null ? null : next.started_at };
    after = next;
  }
}
