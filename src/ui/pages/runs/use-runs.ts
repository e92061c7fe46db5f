import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { useRunUpdates, type RunEvent } from '../../live/use-run-updates.js';
import { useSteady } from '../../live/use-steady.js';
import { isOnPage, matchesRun } from './run-matches.js';
import { endsOf } from '../../state/use-series.js';
import { filterQuery, isSearch, isUncounted, searchFilter, type RunsState } from './runs-state.js';

type ListedRun = Schemas['ListedRun'];

export const PAGE_SIZE = 50;
/** Larger counts of new runs are shown as `999+`. */
export const MAX_NEW_RUNS = 999;
/** Poll interval without a stream */
const WITHOUT_STREAM_MS = 10_000;
/** and with one, in case it misses something. */
const WITH_STREAM_MS = 60_000;
const GATHER_MS = 500;
/** Delay before a reload of values that the stream does not have, such as models and span errors. */
const ASK_AGAIN_MS = 5000;
/** Ranges end at a whole minute, so that all pages belong to the same list. */
const MINUTE = 60_000;

const idOf = ({ trace_id: id }: ListedRun): string => id;

/** The range in which runs of all time are counted: the API returns at most 1500 buckets of a day. */
export const OLDEST_FOUND = { range: '1460d', label: '4 years' } as const;

/** The part of the state that selects runs. */
function listOf(state: RunsState): RunsState {
  return { ...state, cols: '' };
}

/** Loads a page of the list. @param previews whether to include span previews, which take longer */
export function listQuery(state: RunsState, previews: boolean) {
  return queryOptions({
    queryKey: ['runs', previews, listOf(state)],
    queryFn: ({ signal }) => {
      const now = Math.ceil(Date.now() / MINUTE) * MINUTE;
      const place = state.after === '' ? { page: state.page } : { page: 1, cursor: state.after };
      const query = {
        ...filterQuery(state, now),
        ...place,
        page_size: PAGE_SIZE,
        previews,
        scores: previews,
      };
      return bodyOf(api.GET('/api/v1/dashboard/traces', { params: { query }, signal }));
    },
  });
}

/**
 * Counts the runs that a search finds, over time, once per search, because it takes up to 1.5 seconds of the store.
 *
 * @param isListed whether the list has loaded, which comes first
 * @returns undefined while loading and without a search
 */
export function useFound(state: RunsState, isListed: boolean): Schemas['FoundRunsSeries'] | undefined {
  const { q, range } = state;
  const filter = searchFilter(state);
  const { data } = useQuery({
    queryKey: ['found-runs', q, range, filter],
    queryFn: ({ signal }) => {
      const query = { ...endsOf(range, OLDEST_FOUND.range), ...filter, ...(q === '' ? {} : { query: q }) };
      return bodyOf(api.GET('/api/v1/dashboard/traces/search-series', { params: { query }, signal }));
    },
    enabled: isSearch(state) && isListed,
  });
  return data;
}

/**
 * The runs of a list, which keep their places while it is read, with live updates and the number of new
 * runs.
 */
export function useRuns(state: RunsState) {
  const client = useQueryClient();
  const selection = listOf(state);
  const list = JSON.stringify(selection);
  const isFirstPage = state.page === 1 && state.after === '';
  const isSearched = isSearch(state);
  const [added, setAdded] = useState<{ readonly list: string; readonly ids: ReadonlySet<string> }>({
    list,
    ids: new Set(),
  });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  /** @param cancelRefetch whether a request in flight may be outdated */
  const askAgain = (cancelRefetch = false): void => {
    timer.current = undefined;
    void client.invalidateQueries({ queryKey: ['runs', true, selection] }, { cancelRefetch });
  };
  const onGap = (): void => {
    askAgain(true);
  };
  const take = (runs: readonly RunEvent[]): void => {
    const changed = new Map(runs.map((run) => [run.trace_id, run]));
    client.setQueriesData<Schemas['ListedRunPage']>({ queryKey: ['runs'], type: 'active' }, (page) =>
      page?.items.some((run) => changed.has(idOf(run)))
        ? { ...page, items: page.items.map((run) => ({ ...run, ...changed.get(idOf(run)) })) }
        : page,
    );
    const rows = steady.items ?? [];
    const shown = new Set(rows.map(idOf));
    // Whether these runs match is only known to the store.
    const isUnknown = isUncounted(state) || state.meta !== '' || state.score !== '';
    const arrived = isUnknown ? [] : runs.filter((run) => !shown.has(run.trace_id) && isNew(run, rows));
    if (arrived.length > 0)
      setAdded((before) => ({
        list,
        ids: new Set([...(before.list === list ? before.ids : []), ...arrived.map((run) => run.trace_id)]),
      }));
    // A search takes up to 1.5 seconds of the store, so arriving runs do not repeat it.
    const isDue =
      rows.some((run) => changed.has(idOf(run))) || (!isSearched && (isUnknown || rows.length === 0));
    if (isDue) timer.current ??= setTimeout(askAgain, ASK_AGAIN_MS);
  };
  const isLive = useRunUpdates({ onRuns: take, onGap, everyMs: GATHER_MS });
  const ask = (previews: boolean) => ({
    ...listQuery(state, previews),
    placeholderData: keepPreviousData,
    refetchInterval: isFirstPage && !isSearched && (isLive ? WITH_STREAM_MS : WITHOUT_STREAM_MS),
  });
  // The list first, then the same with previews; a search, which takes longer than they do, only once.
  const whole = useQuery(ask(true));
  const isWhole = whole.data !== undefined && !whole.isPlaceholderData;
  const first = useQuery({ ...ask(false), enabled: !isWhole && !isSearched, refetchInterval: false });
  const isFirst = !isWhole && first.data !== undefined && !first.isPlaceholderData;
  const { data, isPlaceholderData } = isFirst ? first : whole;
  const steady = useSteady(list, data?.items, isPlaceholderData, idOf);
  const loadedAt = whole.dataUpdatedAt;

  function isNew(run: RunEvent, rows: readonly ListedRun[]): boolean {
    if (!matchesRun(state, run, Date.now())) return false;
    // On later pages a run may belong to an earlier page.
    return isFirstPage
      ? isOnPage(state.sort, run, rows, PAGE_SIZE)
      : loadedAt > 0 && Date.parse(run.started_at) > loadedAt;
  }

  const ids = new Set([...(added.list === list ? added.ids : []), ...(isFirstPage ? steady.newKeys : [])]);
  const renew = async (): Promise<void> => {
    client.removeQueries({ queryKey: ['runs'], type: 'inactive' });
    if (!isFirstPage) return;
    const { data: newest } = await whole.refetch();
    if (!newest) return;
    steady.renew(newest.items);
    setAdded({ list, ids: new Set() });
  };
  return {
    data,
    runs: steady.items ?? [],
    error: whole.error,
    isPlaceholderData,
    refetch: whole.refetch,
    newCount: ids.size,
    /** Shows the newest runs, on the first page. */
    renew: () => void renew(),
  };
}
