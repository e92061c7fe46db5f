import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';

const WAITING_MS = 2000;
export const NEWEST_RUN = 'newest-run';

/** The number of agents, with at most one of them. */
export const AGENT_COUNT = queryOptions({
  queryKey: ['agents-there'],
  queryFn: async ({ signal }) => {
    const query = { page: 1, page_size: 1 };
    const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
    return Array.isArray(body) ? { items: body.slice(0, 1), count: body.length } : body;
  },
});

/** {@link AGENT_COUNT}, polled while the first run is awaited. */
export function useAgentCount() {
  return useQuery({
    ...AGENT_COUNT,
    refetchInterval: ({ state }) => (state.data?.count === 0 ? WAITING_MS : false),
  });
}

/**
 * The newest run of an almost empty store.
 *
 * @param kind `all` includes traces without an agent
 * @param isEnabled false skips the request for stores with many runs
 * @returns null if there is none
 */
export function useNewestRun(kind: 'agent' | 'all', isEnabled: boolean): Schemas['Run'] | null | undefined {
  const { data } = useQuery({
    queryKey: [NEWEST_RUN, kind],
    queryFn: async ({ signal }) => {
      const query = { kind, count: 'none' as const, page: 1, page_size: 1 };
      const { items } = await bodyOf(api.GET('/api/v1/dashboard/traces', { params: { query }, signal }));
      return items[0] ?? null;
    },
    enabled: isEnabled,
    refetchInterval: ({ state }) => (state.data ? false : WAITING_MS),
  });
  return data;
}

/**
 * Removes cached empty responses once the first run arrives, because they still count as fresh. Call it in
 * components shown until then.
 */
export function useNothingYet(): void {
  const client = useQueryClient();
  useEffect(() => {
    // Inactive queries reload when shown again.
    client.removeQueries({ type: 'inactive' });
    return () => {
      void client.resetQueries({ queryKey: ['series'], type: 'active' });
    };
  }, [client]);
}

/** Opens the first run when it arrives in a store that was empty when the page was opened. */
export function useOpenFirstRun(isEmpty: boolean): void {
  const [, navigate] = useLocation();
  const [wasEmpty, setWasEmpty] = useState(false);
  if (isEmpty && !wasEmpty) setWasEmpty(true);
  const first = useNewestRun('agent', wasEmpty && !isEmpty)?.trace_id;
  useEffect(() => {
    if (wasEmpty && !isEmpty && first !== undefined) navigate(`/traces/${first}`);
  }, [wasEmpty, isEmpty, first, navigate]);
}
