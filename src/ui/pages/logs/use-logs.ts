import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api, bodyOf, readText, type Schemas } from '../../api/client.js';
import { itemsOf, member, parseJson, textOf, type Json } from '../../json/parse.js';
import { useStream } from '../../live/use-stream.js';
import { endsOf } from '../../state/use-series.js';
import { goesOn, logFilter, type LogsState, type RecordPlace } from './logs-state.js';
import { arrived, joined, letIn, NO_TAIL, withLoss, type Tail } from '../../live/tail.js';

export type LogRow = Schemas['LogRecord'];

const PAGE = 200;
/** Records in a request of an export; the API allows as many. */
const EXPORTED = 1000;
const REFRESH_MS = 30_000;
const EVENTS = ['open', 'log', 'lost'];

/** The ends of a range; open ranges have no end. */
function timesOf(range: string): { readonly start_time: string; readonly end_time?: string } {
  const { start_time, end_time } = endsOf(range);
  return goesOn(range) ? { start_time } : { start_time, end_time };
}

/** Search results, the newest first, page by page. */
function useFound(state: LogsState) {
  const filter = logFilter(state);
  return useInfiniteQuery({
    queryKey: ['logs', state.range, filter],
    queryFn: ({ pageParam, signal }) => {
      const place = pageParam === null ? {} : { cursor: pageParam };
      const query = { ...filter, ...timesOf(state.range), ...place, limit: PAGE, offset: 0, details: false };
      return bodyOf(api.GET('/api/v1/dashboard/logs/search', { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
  });
}

/** Record counts by facet within a range. */
export function useFacets(state: LogsState) {
  const filter = logFilter(state);
  return useQuery({
    queryKey: ['log-facets', state.range, filter],
    queryFn: ({ signal }) => {
      const query = { ...filter, ...endsOf(state.range) };
      return bodyOf(api.GET('/api/v1/dashboard/logs/facets', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: goesOn(state.range) ? REFRESH_MS : false,
  });
}

/**
 * Search results plus records that arrive while following.
 *
 * @param isReading whether the list is scrolled away from the newest, so that nothing may move
 */
export function useLogs(state: LogsState, isReading: boolean) {
  const found = useFound(state);
  const filter = logFilter(state);
  const name = state.live && goesOn(state.range) ? JSON.stringify(filter) : null;
  const [tail, setTail] = useState<{ readonly of: string | null; readonly tail: Tail<LogRow> }>({
    of: name,
    tail: NO_TAIL,
  });
  const current = tail.of === name ? tail.tail : NO_TAIL;
  const change = (next: (tail: Tail<LogRow>) => Tail<LogRow>): void => {
    setTail((before) => ({ of: name, tail: next(before.of === name ? before.tail : NO_TAIL) }));
  };
  const opened = useRef(0);
  useEffect(() => {
    opened.current = 0;
  }, [name]);
  const isLive = useStream(
    name,
    () => 'logs',
    EVENTS,
    (event, data) => {
      if (event === 'open') {
        // Records from before the stream opened or during an interruption are only in the store.
        opened.current += 1;
        if (opened.current > 1) change((before) => (isReading ? withLoss(before, null) : NO_TAIL));
        void found.refetch();
      } else if (event === 'lost') change((before) => withLoss(before, data['count'] as number | null));
      else change((before) => arrived(before, [data as unknown as LogRow], isReading));
    },
    filter,
  );
  const pages = found.data?.pages;
  const rows = useMemo(
    () =>
      pages &&
      joined(
        current,
        pages.flatMap(({ items }) => items),
      ),
    [pages, current],
  );
  return {
    rows,
    /** Number of search results, without later arrivals. */
    count: pages?.[0]?.count,
    isLive,
    tail: current,
    letIn: () => {
      change(letIn);
    },
    /** Reloads everything from the store. */
    reload: () => {
      change(() => NO_TAIL);
      void found.refetch();
    },
    error: found.error,
    isPlaceholder: found.isPlaceholderData,
    retry: () => void found.refetch(),
    more: () => {
      if (found.hasNextPage && !found.isFetching) void found.fetchNextPage();
    },
    isAll: !found.hasNextPage,
  };
}

/** Search results page by page with all fields, for an export. Records that arrive later do not shift the pages. */
export async function* allLogs(state: LogsState, signal: AbortSignal): AsyncGenerator<readonly LogRow[]> {
  const query = { ...logFilter(state), ...endsOf(state.range), limit: EXPORTED, offset: 0, details: true };
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const place: object = cursor === undefined ? {} : { cursor };
    const { items, next_cursor } = await bodyOf(
      api.GET('/api/v1/dashboard/logs/search', { params: { query: { ...query, ...place } }, signal }),
    );
    yield items;
    cursor = next_cursor;
  }
}

/** A complete record with all digits; null if it is no longer stored. */
export function useRecord(place: RecordPlace | undefined) {
  return useQuery({
    queryKey: ['log', place?.timestamp, place?.id],
    queryFn: async ({ signal }): Promise<Json | null> => {
      const at = place?.timestamp ?? '';
      let cursor: string | undefined;
      do {
        const query = new URLSearchParams({ start_time: at, end_time: at, details: 'true', limit: '1000' });
        if (cursor !== undefined) query.set('cursor', cursor);
        const page = parseJson(await readText(`dashboard/logs/search?${query.toString()}`, signal));
        const record = itemsOf(member(page, 'items'))?.find((each) => textOf(each, 'id') === place?.id);
        if (record) return record;
        cursor = textOf(page, 'next_cursor');
      } while (cursor !== undefined);
      return null;
    },
    enabled: place !== undefined,
    staleTime: Infinity,
  });
}
