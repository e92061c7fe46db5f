import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';
import type { operations } from '../../api/generated/schema.js';
import { useStream } from '../../live/use-stream.js';
import { ALERT_RULES } from '../../state/queries.js';

/** How often firings are loaded while a notification waits for its result. */
const PENDING_MS = 2000;

type Query = NonNullable<operations['listFiredAlerts']['parameters']['query']>;

export function useRules() {
  return useQuery(ALERT_RULES);
}

export const FIRINGS_ON_PAGE = 20;

/** A page of firings, the newest first. */
export function useFirings(filter: Query, page: number, page_size = FIRINGS_ON_PAGE) {
  const query = { ...filter, page, page_size };
  return useQuery({
    queryKey: ['firings', query],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/dashboard/alert-events', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ notifications }) => notifications.some(({ status }) => status === 'pending'))
        ? PENDING_MS
        : false,
  });
}

/** Reloads alerts and firings when one fires, resolves or changes. */
export function useAlertUpdates(): void {
  const client = useQueryClient();
  useStream(
    'alerts',
    () => 'alerts',
    ['alert', 'lost', 'open'],
    () => {
      for (const key of ['alerts', 'alert', 'firings', 'alert-past'])
        void client.invalidateQueries({ queryKey: [key] }, { cancelRefetch: false });
    },
  );
}

/** Whether the scopes allow changing alerts. */
export function mayManage(scopes: readonly string[]): boolean {
  return scopes.includes('manage');
}
