import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.js';

const WAITING_MS = 2000;
/** First part of the keys of its queries. */
export const NEWEST_RUN = 'newest-run';

/** How many agents there are, and at most one of them. */
export const AGENTS_THERE = queryOptions({
  queryKey: ['agents-there'],
  queryFn: async ({ signal }) => {
    const query = { page: 1, page_size: 1 };
    const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
    return Array.isArray(body) ? { items: body.slice(0, 1), count: body.length } : body;
  },
});

/** The same, again and again while somebody waits for the first. */
export function useAgentsThere() {
  return useQuery({
    ...AGENTS_THERE,
    refetchInterval: ({ state }) => (state.data?.count === 0 ? WAITING_MS : false),
  });
}

/**
 * The newest run of a store that has hardly any.
 *
 * @param kind `all`: traces in which no agent is at work count, too
 * @param isAsked whether it is wanted, so that a store with many runs is not asked
 * @returns null: none has come
 */
export function useNewestRun(kind: 'agent' | 'all', isAsked: boolean): Schemas['Run'] | null | undefined {
  const { data } = useQuery({
    queryKey: [NEWEST_RUN, kind],
    queryFn: async ({ signal }) => {
      const query = { kind, count: 'none' as const, page: 1, page_size: 1 };
      const { items } = await bodyOf(api.GET('/api/v1/dashboard/traces', { params: { query }, signal }));
      return items[0] ?? null;
    },
    enabled: isAsked,
    refetchInterval: ({ state }) => (state.data ? false : WAITING_MS),
  });
  return data;
}

/**
 * Forgets what was answered while there was nothing: it counts as fresh, and would be shown as what is there once the first run has come.
 * To be called by what is shown until then.
 */
export function useNothingYet(): void {
  const client = useQueryClient();
  useEffect(() => {
    // Nobody looks at it: when it is shown next, it is asked for.
    client.removeQueries({ type: 'inactive' });
    return () => {
      void client.resetQueries({ queryKey: ['series'], type: 'active' });
    };
  }, [client]);
}
