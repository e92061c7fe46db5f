import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.js';
import type { operations } from '../api/generated/schema.js';
import { stretchOf } from './range.js';

type Query = NonNullable<operations['readRunSeries']['parameters']['query']>;

const MINUTE = 60_000;
const REFRESH_MS = 30_000;

/** Both ends of a range, up to a whole minute, so that what is asked for again is the same. @param otherwise where the range has no start */
export function endsOf(
  range: string,
  otherwise = '90d',
): { readonly start_time: string; readonly end_time: string } {
  const now = Math.ceil(Date.now() / MINUTE) * MINUTE;
  const { start, end } = stretchOf(range, now) ?? {};
  const first = start ?? stretchOf(otherwise, now)?.start ?? now;
  return { start_time: new Date(first).toISOString(), end_time: new Date(end ?? now).toISOString() };
}

type Asked = Omit<Query, 'start_time' | 'end_time'>;

/** Asks how runs went within a range. @param ask what else is asked for, as the API calls it */
export function seriesQuery(range: string, ask: Asked = {}) {
  return queryOptions({
    queryKey: ['series', range, ask],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/series', { params: { query: { ...endsOf(range), ...ask } }, signal }),
      ),
  });
}

/** The answer to that, which stays until there is another. */
export function useSeries(range: string, ask?: Asked) {
  return useQuery({
    ...seriesQuery(range, ask),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}
