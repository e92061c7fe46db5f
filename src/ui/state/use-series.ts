import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.js';
import type { operations } from '../api/generated/schema.js';
import { LONGEST, stretchOf } from './range.js';

type Query = NonNullable<operations['readRunSeries']['parameters']['query']>;

const MINUTE = 60_000;
const REFRESH_MS = 30_000;

/**
 * Both ends of a range at whole minutes, so that repeated requests are equal.
 *
 * @param otherwise start of an open range
 */
export function endsOf(
  range: string,
  otherwise = LONGEST,
): { readonly start_time: string; readonly end_time: string } {
  const now = Math.ceil(Date.now() / MINUTE) * MINUTE;
  const { start, end } = stretchOf(range, now) ?? {};
  const first = start ?? stretchOf(otherwise, now)?.start ?? now;
  return { start_time: new Date(first).toISOString(), end_time: new Date(end ?? now).toISOString() };
}

type SeriesQuery = Omit<Query, 'start_time' | 'end_time'>;

/** Loads run totals over time. @param ask further API parameters */
export function seriesQuery(range: string, ask: SeriesQuery = {}) {
  return queryOptions({
    queryKey: ['series', range, ask],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/series', { params: { query: { ...endsOf(range), ...ask } }, signal }),
      ),
  });
}

/** {@link seriesQuery} as a hook that keeps the previous data. */
export function useSeries(range: string, ask?: SeriesQuery) {
  return useQuery({
    ...seriesQuery(range, ask),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}
